import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { calledWebhooks, dryRun, podCreations } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import { startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { clusterFlags, type CommandResult, runInjector } from '../harness/injector-command.ts';
import {
  conditionOf,
  deleteForced,
  injectorConfig,
  injectorConfigs,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { Creations, notInjected } from '../harness/node/creations.ts';
import type { Pod } from '../harness/pod.ts';
import { revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none } from '../harness/wait-for.ts';
import { barePod, createDeployment } from '../harness/workloads.ts';
import { startStubIstiod, type StubIstiod } from './adopt-istio/stub-istiod.ts';

export const adoptIstio: Scenario = {
  name: 'adopt-istio',
  about:
    "a cluster moves from Istio's injector and back, by label and by selectors, while pods are created all the time: none is bare, different or injected twice",
  destructive: 'it creates a webhook configuration called istio-sidecar-injector, and an injector for revision default',
  run: (context) => new Adoption(context).walk(),
};

/** The labels of pods that opt in themselves. */
const optIn = { 'sidecar.istio.io/inject': 'true' };
/** Without a token, whose volume has a random name, pods of one kind are equal. */
const spec = { automountServiceAccountToken: false };

class Adoption {
  readonly #context: ScenarioContext;
  readonly #audit: AuditLog;
  readonly #loads: Creations[] = [];
  #began = 0;

  constructor(context: ScenarioContext) {
    this.#context = context;
    this.#audit = context.requireAudit();
  }

  async walk(): Promise<string> {
    const context = this.#context;
    const { client } = context;
    const operator = await context.startOperator();
    const istiod = await startStubIstiod(context);
    await istiod.applyChart();
    const byLabel = await context.namespace('shop', { 'istio-injection': 'enabled' });
    const bySelectors = await context.namespace('self');
    const failing = await context.namespace('odd', { 'istio-injection': 'enabled', odd: 'yes' });
    await untilActive(client);
    for (const namespace of [byLabel, failing]) await createDeployment(client, namespace, 'web', { replicas: 2 });
    await createDeployment(client, byLabel, 'plain', { labels: { 'sidecar.istio.io/inject': 'false' } });
    await createDeployment(client, bySelectors, 'cart', { labels: optIn });
    await client.create(barePod(bySelectors, 'alone', { labels: optIn }));
    const before = await this.#stateOf(istiod, [byLabel, bySelectors, failing]);

    const lost = await this.#control(istiod, byLabel);
    const files = this.#files(istiod);
    await this.#start({ [byLabel]: {}, [bySelectors]: optIn, [failing]: {} });
    await this.#injector('prove, from files: the pods of both injectors are equal', 0, /4 workloads .*no difference/s, [
      ...['prove', '-f', files.adopted, '-i', istiod.namespace],
    ]);
    await this.#changedImage(istiod, files.changed);
    await this.#injector("standby: this injector is Ready, and Istio's still injects", 0, /4 dry runs show it/, [
      ...['standby', '-f', files.adopted],
    ]);
    const proof = await this.#prove(istiod);
    await this.#injector('move by label', 0, /moved by label istio.io\/rev=adopted; .* 1 workload/, [
      ...['move', byLabel, '--proof', proof],
    ]);
    await this.#injector('move by selectors', 0, /moved by the selectors .* 2 workloads/, [
      ...['move', bySelectors, '--proof', proof],
    ]);
    await this.#checkAnswers({ [byLabel]: 'ours', [bySelectors]: 'ours', [failing]: 'Istio' });
    await istiod.applyChart();
    await this.#checkAnswers({ [byLabel]: 'ours', [bySelectors]: 'Istio', [failing]: 'Istio' });
    await this.#injector('after the chart was applied again, move by selectors again', 0, /moved by the selectors/, [
      ...['move', bySelectors, '--proof', proof],
    ]);
    await this.#takenBack(failing, proof);
    await this.#injector('back of one namespace', 0, /given back; Istio's injector answers .* 1 workload/, [
      'back',
      byLabel,
    ]);
    await this.#checkAnswers({ [byLabel]: 'Istio', [bySelectors]: 'ours', [failing]: 'Istio' });
    await this.#injector('finish is refused while namespaces are left', 4, new RegExp(`${failing},${byLabel}`), [
      'finish',
    ]);
    await this.#injector('move of all namespaces', 0, /adopt-istio-odd: moved.*adopt-istio-shop: moved/s, [
      ...['move', '--all', '--proof', await this.#prove(istiod)],
    ]);
    const made = await this.#checkLoads('until finish');
    await this.#finish(istiod, [byLabel, bySelectors, failing]);
    for (const load of this.#loads) load.stop();
    await operator.process.kill();
    await this.#injector('back needs no operator', 0, /are active again.*-odd: given back.*-self: given back/s, [
      'back',
    ]);
    await this.#checkAnswers({ [byLabel]: 'Istio', [bySelectors]: 'Istio', [failing]: 'Istio' });
    const after = await this.#stateOf(istiod, [byLabel, bySelectors, failing]);
    await context.checkNow(
      "Istio's webhooks and the labels of namespaces are as before",
      () => isDeepStrictEqual(after, before) || found(JSON.stringify(after), JSON.stringify(before)),
    );
    context.measured({ created: made, bare: 0, different: 0, calledTwice: 0, bareInWrongOrder: lost });
    return `${made} pods created during the moves: 0 bare, 0 different, 0 called twice; ${lost} bare when Istio's webhook was removed first`;
  }

  /** The negative control: the other webhook is removed first, and then this injector publishes. */
  async #control(istiod: StubIstiod, namespace: string): Promise<number> {
    const { client } = this.#context;
    const load = new Creations(client, namespace, notInjected, { spec });
    const from = Date.now();
    const config = adopted(istiod.namespace, 'istio-sidecar-injector');
    await applyObject(client, config);
    await this.#context.check('without takeover, nothing is published beside Istio', async () =>
      found((await conditionOf(client, 'default', 'ForeignOverlap'))?.status ?? '', 'True'),
    );
    await istiod.removeWebhooks();
    await this.#context.check("negative control: pods start bare when Istio's webhook is removed first", async () => {
      const ready = await conditionOf(client, 'default', 'Ready');
      return ready?.status === 'True' && load.since(from).problems.length > 0;
    });
    load.stop();
    await istiod.applyChart();
    await deleteForced(client, config);
    await this.#context.check('the injector of the control is gone', async () => {
      return (await client.find(injectorConfigs, 'default')) === undefined;
    });
    await untilActive(client);
    return load.since(from).problems.length;
  }

  /** Writes the files of the injector that takes over, and of one with another image. */
  #files(istiod: StubIstiod): { adopted: string; changed: string } {
    const tag = revisionTag('adopted', 'default');
    const write = (name: string, objects: readonly KubernetesObject[]): string => {
      const file = join(this.#context.cluster.run.path, `${name}.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
      return file;
    };
    return {
      adopted: write('adopted', [adopted(istiod.namespace, 'istio-sidecar-injector'), tag]),
      changed: write('changed', [adopted(istiod.namespace, 'changed'), tag]),
    };
  }

  /** Checks that a proof detects an injector with another image. */
  async #changedImage(istiod: StubIstiod, file: string): Promise<void> {
    const { client } = this.#context;
    const configMap = resourceKind('v1', 'ConfigMap');
    const { namespace } = istiod;
    const { data } = await client.get<{ data: Record<string, string> }>(configMap, 'istio-sidecar-injector', {
      namespace,
    });
    const values = JSON.parse(data['values'] ?? '') as { global: object };
    const changed = JSON.stringify({ ...values, global: { ...values.global, tag: 'another' } });
    await client.create({ ...objectOf('v1', 'ConfigMap', 'changed', namespace), data: { ...data, values: changed } });
    await this.#injector('negative control: prove detects another image', 3, /image: 4 workloads.*another/s, [
      ...['prove', '-f', file, '-i', namespace],
    ]);
  }

  async #prove({ namespace }: StubIstiod): Promise<string> {
    const { out } = await this.#injector('prove, of the cluster', 0, /"stale": 0/, [
      'prove',
      '-i',
      namespace,
      '-o',
      'json',
    ]);
    const file = join(this.#context.cluster.run.path, 'proof.json');
    writeFileSync(file, out);
    return file;
  }

  /** Checks that a move is taken back if another webhook changes the pods of this injector. */
  async #takenBack(namespace: string, proof: string): Promise<void> {
    const patch = [{ op: 'add', path: '/metadata/annotations/other', value: 'webhook' }];
    let isOn = true;
    const other = { name: 'zz-other', namespaceLabels: { odd: 'yes', 'istio.io/rev': 'adopted' } };
    await startForeignWebhooks(this.#context, [{ ...other, patch: () => (isOn ? patch : []) }]);
    await this.#injector('a move is taken back if a new pod would differ', 3, /taken back, because .*other/, [
      ...['move', namespace, '--proof', proof],
    ]);
    isOn = false;
    await this.#checkAnswers({ [namespace]: 'Istio' });
  }

  async #finish(istiod: StubIstiod, namespaces: readonly string[]): Promise<void> {
    await this.#injector('finish', 0, /istio-sidecar-injector: deactivated.*no longer stands by/s, ['finish']);
    await untilActive(this.#context.client);
    await this.#checkAnswers(Object.fromEntries(namespaces.map((each) => [each, 'ours'])));
    await this.#context.check(
      'after finish, the webhooks of Istio still exist, and ours does not stand by',
      async () => {
        const { spec } = await this.#context.client.get<InjectorConfigObject>(injectorConfigs, 'default');
        const text = JSON.stringify(await istiod.configuration());
        return text.includes('never-match') && spec.webhook?.['takeover'] === false;
      },
    );
    await this.#checkLoads('after finish');
  }

  /** Creates pods in namespaces all the time, and compares each with the first. */
  async #start(namespaces: Record<string, Record<string, string>>): Promise<void> {
    const { client } = this.#context;
    this.#began = Date.now();
    for (const [namespace, labels] of Object.entries(namespaces)) {
      const expected = essence(await dryRun(client, barePod(namespace, 'load', { spec, labels })));
      const problemOf = (pod: Pod): string | undefined =>
        notInjected(pod) ?? (essence(pod) === expected ? undefined : `different in ${namespace}: ${essence(pod)}`);
      this.#loads.push(new Creations(client, namespace, problemOf, { spec, labels }));
    }
    this.#context.atEnd(() => {
      for (const load of this.#loads) load.stop();
    });
  }

  /** Checks that no pod was bare, different, refused or injected twice. Returns their number. */
  async #checkLoads(when: string): Promise<number> {
    const results = this.#loads.map((load) => load.since(this.#began));
    const made = results.reduce((sum, each) => sum + each.made, 0);
    // The webhook of another product stands for a change of the pod, so its pods differ.
    const problems = results.flatMap((each) => each.problems).filter((each) => !each.includes('["other","webhook"]'));
    await this.#context.checkNow(`${when}: none of ${made} pods was bare, different or refused`, () => none(problems));
    const events = this.#audit.events().filter(({ requestReceivedTimestamp: at }) => Date.parse(at) >= this.#began);
    const called = ['shop', 'self']
      .flatMap((name) => podCreations(events, `${this.#context.name}-${name}`))
      .map(calledWebhooks);
    const twice = called.filter(({ length }) => length > 1);
    await this.#context.checkNow(`${when}: no pod was injected twice`, () => none(twice.map((each) => each.join())));
    await this.#context.checkNow(`${when}: the audit log names the injectors of pods`, () =>
      called.some(({ length }) => length === 1),
    );
    return made;
  }

  /** Checks which injector answers for new pods of namespaces. */
  async #checkAnswers(expected: Record<string, string>): Promise<void> {
    for (const [namespace, injector] of Object.entries(expected)) {
      const labels = namespace.endsWith('-self') ? optIn : {};
      await this.#context.check(`new pods of ${namespace} are injected by ${injector}`, async () => {
        const pod = await dryRun(this.#context.client, barePod(namespace, 'asked', { spec, labels }));
        const isOurs = pod.metadata.annotations?.['sidecar-injector.io/config'] !== undefined;
        return notInjected(pod) === undefined && found(isOurs ? 'ours' : 'Istio', injector);
      });
    }
  }

  async #stateOf(istiod: StubIstiod, names: readonly string[]): Promise<unknown> {
    const { webhooks: items, metadata } = await istiod.configuration();
    const read = names.map((name) => this.#context.client.get(resourceKind('v1', 'Namespace'), name));
    const namespaces = (await Promise.all(read)).map((each) => [each.metadata.labels, each.metadata.annotations ?? {}]);
    return { items, annotations: metadata.annotations ?? {}, namespaces };
  }

  async #injector(what: string, code: number, said: RegExp, argv: readonly string[]): Promise<CommandResult> {
    const result = await runInjector(['adopt', ...argv, ...clusterFlags(this.#context.cluster)]);
    const text = `${result.out}${result.errors}`.replaceAll(/\s+/g, ' ');
    await this.#context.checkNow(`${what} (adopt ${argv[0] ?? ''}, ${result.milliseconds} ms)`, () =>
      result.code === code && said.test(text) ? true : found(`${result.code}: ${text}`, `${code}: ${said.source}`),
    );
    return result;
  }
}

/** Returns the InjectorConfig that takes over from the stub. */
function adopted(namespace: string, configMap: string): InjectorConfigObject {
  const from = (name: string, key: string) => ({ namespace, name, key });
  return injectorConfig('default', {
    injection: { configFrom: from(configMap, 'config'), meshConfigFrom: from('istio', 'mesh') },
  });
}

/** Returns what both injectors write into a pod. */
function essence({ metadata, spec: made }: Pod): string {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => key !== 'sidecar-injector.io/config',
  );
  return JSON.stringify([metadata.labels, annotations.sort(), made]);
}
