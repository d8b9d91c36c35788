import type { Condition } from '../../src/api/kubernetes/kubernetes.ts';
import { istio, revision } from '../../src/selection/testdata/istio-webhook.ts';
import { applyObject } from '../harness/apply.ts';
import {
  condition,
  eventsAbout,
  injectorConfigs,
  smallConfig,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import type { Scenario } from '../harness/scenario-context.ts';

const name = 'blue';
/** The maximum delay in milliseconds. A resync, which also finds changes, comes after minutes. */
const maximumDelay = 20_000;

export const foreignComesAndGoes: Scenario = {
  name: 'foreign-comes-and-goes',
  about: "conditions change within seconds after another product's webhook is created, changed or deleted",
  destructive: 'it creates a webhook configuration called istio-sidecar-injector',
  run: async (context) => {
    const { client } = context;
    await context.startOperator();
    const stored = { failurePolicy: 'Ignore', sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const foreign = (selector: object) => istio({ namespaceSelector: selector, objectSelector: {}, ...stored });
    const overlapping = foreign(revision(name));
    const arrive = (object: typeof overlapping) => client.apply(object, { fieldManager: 'istio', force: true });
    const changes: [
      what: string,
      change: () => Promise<unknown>,
      overlap: Condition['status'],
      ready: Condition['status'],
    ][] = [
      [
        "the other product's webhook exists before ours",
        () => arrive(overlapping).then(() => applyObject(client, smallConfig(name))),
        'True',
        'False',
      ],
      ["the other product's webhook is deleted", () => client.delete(overlapping), 'False', 'True'],
      ["the other product's webhook is created after ours", () => arrive(overlapping), 'True', 'True'],
      ["the other product's webhook selects other pods", () => arrive(foreign(revision('other'))), 'False', 'True'],
      ["the other product's webhook selects our pods again", () => arrive(overlapping), 'True', 'True'],
      ["the other product's webhook is deleted again", () => client.delete(overlapping), 'False', 'True'],
    ];
    let slowest = 0;
    for (const [what, change, overlap, ready] of changes) {
      await change();
      const changedAt = Date.now();
      const changed = await context.check(`${what}: ForeignOverlap is ${overlap}, Ready is ${ready}`, async () => {
        const config = await client.get<InjectorConfigObject>(injectorConfigs, name);
        const [found, readiness] = [condition(config, 'ForeignOverlap'), condition(config, 'Ready')];
        return found?.status === overlap && readiness?.status === ready && found;
      });
      const took = Math.max(0, Date.parse(changed.lastTransitionTime) - changedAt);
      slowest = Math.max(slowest, took);
      await context.checkNow(`${what}: the condition changed within 20 s`, () => took <= maximumDelay);
    }
    await context.check("an Event names the other product's webhook", async () => {
      const events = await eventsAbout(client, name);
      return events.some(({ message }) => message.includes('istio-sidecar-injector'));
    });
    return `${changes.length} changes of another product's webhook; the slowest condition changed after ${slowest} ms`;
  },
};
