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
/** Milliseconds from the answer to a write to what the condition says of when it changed; its times are whole seconds. */
const within = 2000 + 1000;

export const foreignComesAndGoes: Scenario = {
  name: 'foreign-comes-and-goes',
  about: "another injector's webhook arrives, changes and leaves, before and after Ready: conditions follow at once",
  paired: true,
  destructive: 'it makes a webhook configuration called istio-sidecar-injector',
  run: async (context) => {
    const { client } = context;
    await context.startOperator();
    const stored = { failurePolicy: 'Ignore', sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const foreign = (selector: object) => istio({ namespaceSelector: selector, objectSelector: {}, ...stored });
    const taking = foreign(revision(name));
    const arrive = (object: typeof taking) => client.apply(object, { fieldManager: 'istio', force: true });
    const changes: [
      what: string,
      change: () => Promise<unknown>,
      overlap: Condition['status'],
      ready: Condition['status'],
    ][] = [
      [
        'it arrives before us',
        () => arrive(taking).then(() => applyObject(client, smallConfig(name))),
        'True',
        'False',
      ],
      ['it is deleted', () => client.delete(taking), 'False', 'True'],
      ['it arrives after us', () => arrive(taking), 'True', 'True'],
      ['it turns to other pods', () => arrive(foreign(revision('other'))), 'False', 'True'],
      ['it turns to ours again', () => arrive(taking), 'True', 'True'],
      ['it is deleted again', () => client.delete(taking), 'False', 'True'],
    ];
    let slowest = 0;
    for (const [what, change, overlap, ready] of changes) {
      await change();
      const asked = Date.now();
      const changed = await context.check(`${what}: ForeignOverlap is ${overlap}, Ready ${ready}`, async () => {
        const config = await client.get<InjectorConfigObject>(injectorConfigs, name);
        const [found, readiness] = [condition(config, 'ForeignOverlap'), condition(config, 'Ready')];
        return found?.status === overlap && readiness?.status === ready && found;
      });
      const took = Math.max(0, Date.parse(changed.lastTransitionTime) - asked);
      slowest = Math.max(slowest, took);
      await context.checkNow(`${what}: the condition followed within 2 s`, () => took <= within);
    }
    await context.check('an Event told of it although the InjectorConfig was Ready', async () => {
      const events = await eventsAbout(client, name);
      return events.some(({ message }) => message.includes('istio-sidecar-injector'));
    });
    return `${changes.length} changes, the slowest condition ${slowest} ms after`;
  },
};
