import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { injectedByAnnotation } from '../../src/api/names.ts';
import { without } from '../../src/inject/pod/without.ts';
import type { UsageStatus } from '../../src/api/injector-config/usage-status.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import type { StatusReport } from '../../src/cli/commands/status.ts';
import type { CheckReport } from '../../src/cli/check/check-report.ts';
import { cpuPerPod } from '../harness/cpu-per-pod.ts';
import { calledWebhooks, dryRun, podCreations } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import {
  applyUntilReady,
  conditionOf,
  deleteForced,
  injectorConfig,
  injectorConfigs,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { installIstio, type Istio, istioNames } from '../harness/istio.ts';
import type { PodLoad } from '../harness/load/pod-load.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { barePod, createDeployment, labelNamespace, neverScheduled, podsOf } from '../harness/workloads.ts';

/** A revision that is not Istio's; pods have it in records. */
const ownRevision = 'moved-over';
const mesh = { 'istio-injection': 'enabled' };
/** How long pods are created before and after a procedure, in milliseconds. */
const quietMs = 2000;

export const adoptRealIstiod: Scenario = {
  name: 'adopt-real-istiod',
  about:
    'beside the real istiod: commands tell its pods from ours, a cluster moves over and back by `injector adopt`, and six ways to move over are measured, while pods are created',
  destructive: "it installs Istio's charts",
  ownControlPlane: true,
  onlyGate: true,
  full: 'six procedures, pods created all the time, 5 minutes',
  run: async (context) => {
    const istio = await installIstio(context);
    const replicas = await context.startReplicas({ webhooks: 2 });
    const namespace = await context.namespace('shop', mesh);
    await context.check('istiod injects a pod', async () => {
      const pod = await dryRun(context.client, barePod(namespace, 'pod'));
      return isInjected(pod) && !isOurs(pod) && pod;
    });
    await checkCommands(context, namespace);
    const walk = new Walk(context, istio, namespace);
    const minutes = await walk.begin();
    await walk.bySelectors();
    await walk.besideIstioctl();
    const { istiod, ours: own } = await walk.costs(replicas);
    await walk.besideServerSideApply();
    await removeOurs(context);
    const rows = [];
    for (const procedure of procedures) rows.push(await measure(context, istio, procedure));
    const cpu = { cpuMillisecondsForPodOfIstiod: istiod, cpuMillisecondsForPodOfOurs: own };
    const adopted = { ...walk.counts, minutesToFirstNamespace: minutes, ...cpu };
    context.measured({ istio: istio.version, adopted, procedures: rows });
    return [
      `adopt: first namespace after ${minutes} minutes, ${walk.counts.pods} pods, 0 bare, 0 called twice`,
      `CPU for each pod: istiod ${istiod} ms, this injector ${own} ms`,
      ...rows.map((each) => `${each.procedure}: ${each.pods} pods, ${each.bare} bare, ${each.twice} called twice`),
    ].join('; ');
  },
};

/** Returns the InjectorConfig that follows istiod's ConfigMaps. */
function ours(name: string, webhook: object = {}): InjectorConfigObject {
  const { namespace } = istioNames;
  const configFrom = { namespace, name: 'istio-sidecar-injector', key: 'config' };
  const meshConfigFrom = { namespace, name: 'istio', key: 'mesh' };
  return injectorConfig(name, { injection: { configFrom, meshConfigFrom }, webhook: { ...webhook } });
}

const takeover = { takeover: true };
const notInjected = "!has(object.metadata.annotations) || !('sidecar.istio.io/status' in object.metadata.annotations)";
const standby = { takeover: true, matchConditions: [{ name: 'standby', expression: notInjected }] };

function isOurs({ metadata }: Pod): boolean {
  return metadata.annotations?.[injectedByAnnotation] !== undefined;
}

/** Checks what commands say about pods that istiod made. */
async function checkCommands(context: ScenarioContext, namespace: string): Promise<void> {
  const { client, cluster } = context;
  const injector = async <Report>(...argv: string[]): Promise<Report> => {
    const { out, errors } = await runInjector([...argv, '-o', 'json', ...clusterFlags(cluster)]);
    if (out === '') throw new Error(errors);
    return JSON.parse(out) as Report;
  };
  for (const name of ['web', 'cart']) await createDeployment(client, namespace, name, { replicas: 2 });
  await applyUntilReady(client, ours('default', standby));
  await context.check(
    'status says that the pods of istiod equal new pods of ours, and counts none as stale',
    async () => {
      const { others, total } = await injector<StatusReport>('status', '-n', namespace);
      const lines = others.map(
        (each) =>
          `${each.workload} ${each.revision} ${each.identical}/${each.different}/${each.notCompared} ${each.reasons.join()}`,
      );
      return found(
        [...lines, JSON.stringify(total)].join('; '),
        'Deployment/cart default 2/0/0 ; Deployment/web default 2/0/0 ; {"current":0,"stale":0,"missing":0}',
      );
    },
  );
  await context.check(
    'check says that another injector made the pod, and that a new pod of ours is identical',
    async () => {
      const [pod] = await podsOf(client, namespace, 'web');
      const [report] = await injector<CheckReport[]>('check', pod?.metadata.name ?? '', '-n', namespace);
      return found(
        `${report?.reason} ${report?.existing?.state} ${report?.existing?.other?.result}`,
        'OtherInjector Other Identical',
      );
    },
  );
  await context.check('diff compares nothing, and says why', async () => {
    const { errors, code } = await runInjector(['diff', '--to', 'default', '-n', namespace, ...clusterFlags(cluster)]);
    return (
      (code === 5 &&
        /2 workloads not compared: webhook configuration istio-sidecar-injector of another injector/.test(errors)) ||
      found(`${code} ${errors}`, '5')
    );
  });
  await context.check('no namespace and no pod needs the InjectorConfig, because istiod injects them', async () => {
    const { status } = await client.get<InjectorConfigObject>(injectorConfigs, 'default');
    const { namespaces, pods } = (status ?? {}) as UsageStatus;
    return found(`${namespaces?.count} ${pods?.count}`, '0 0');
  });
  await context.checkNow('so it can be deleted without force', async () =>
    client.delete(ours('default')).then(() => true),
  );
  await untilGone(context);
}

/** The ten minutes of docs/adopt.md and the way back, while pods are created. */
class Walk {
  readonly #context: ScenarioContext;
  readonly #istio: Istio;
  readonly #namespace: string;
  readonly #audit: AuditLog;
  #load: PodLoad | undefined;
  readonly counts = { pods: 0, refused: 0, bare: 0, different: 0, twice: 0 };

  constructor(context: ScenarioContext, istio: Istio, namespace: string) {
    this.#context = context;
    this.#istio = istio;
    this.#namespace = namespace;
    this.#audit = context.requireAudit();
  }

  /** Moves the first namespace by label, and gives it back. Returns the minutes until it moved. */
  async begin(): Promise<number> {
    const [istio, namespace] = [this.#istio, this.#namespace];
    const begun = Date.now();
    await this.#injector(0, /dry runs? show/, 'standby', '-f', await this.#plan());
    await this.#tag();
    const proof = await this.#prove();
    await this.#startLoad();
    const before = await webhooksOf(istio);
    await this.#injector(0, /moved by label/, 'move', namespace, '--proof', proof);
    const minutes = Math.round((Date.now() - begun) / 600) / 100;
    await this.#checkOurs(true);
    await istio.apply();
    await sleep(quietMs);
    await this.#injector(0, /given back/, 'back', namespace);
    await this.#checkOurs(false);
    await this.#stopLoad('moved by label, and back', before);
    return minutes;
  }

  /** Moves by selectors beside the manifests of istioctl, which change the ConfigMaps, too. */
  async besideIstioctl(): Promise<void> {
    const move = ['move', this.#namespace, '--by', 'selectors', '--proof', await this.#prove()];
    await this.#startLoad();
    await this.#injector(0, /moved by the selectors/, ...move);
    await this.#checkOurs(true);
    await this.#istio.applyManifests();
    await this.#checkOurs(false);
    await this.#injector(4, /changed since the proof/, ...move);
    await this.#istio.apply();
    await this.#stopLoad('moved by selectors, and given back by istioctl');
  }

  /** Moves by selectors beside a chart that is applied by client-side apply, and finishes. */
  async bySelectors(): Promise<void> {
    const move = ['move', this.#namespace, '--by', 'selectors', '--proof', await this.#prove()];
    await this.#startLoad();
    const before = await webhooksOf(this.#istio);
    await this.#injector(0, /moved by the selectors/, ...move);
    await this.#checkOurs(true);
    await this.#istio.apply();
    await this.#checkOurs(false);
    await this.#injector(0, /moved by the selectors/, ...move);
    await this.#injector(0, /istio-sidecar-injector: deactivated.*no longer stands by/, 'finish');
    await this.#checkOurs(true);
    await this.#injector(0, /active again.*shop: given back/, 'back');
    await this.#checkOurs(false);
    await this.#stopLoad('moved by selectors, finished, and back', before);
  }

  /** Moves all beside a chart that Helm 4 applies, which would revert what `finish` writes. */
  async besideServerSideApply(): Promise<void> {
    const istio = this.#istio;
    await istio.useServerSideApply();
    const proof = await this.#prove();
    await this.#startLoad();
    await this.#injector(0, /shop: moved by label/, 'move', '--all', '--proof', proof);
    await this.#injector(4, /reverted by .*server-side apply.*operatorManageWebhooks=true/, 'finish');
    await istio.apply(false);
    await this.#injector(0, /no longer stands by/, 'finish');
    await this.#checkOurs(true);
    await this.#injector(3, /webhook does not exist.*apply Istio's chart without/, 'back');
    await this.#stopLoad('moved beside server-side apply, and finished');
    // Until istiod has written the caBundle of a new webhook, the API server refuses pods.
    await istio.apply();
    await this.#injector(0, /shop: given back/, 'back');
    await this.#checkOurs(false);
  }

  async #injector(code: number, said: RegExp, ...argv: string[]): Promise<string> {
    const result = await runInjector(['adopt', ...argv, ...clusterFlags(this.#context.cluster)]);
    const text = `${result.out} ${result.errors}`.replaceAll(/\s+/g, ' ');
    await this.#context.checkNow(`adopt ${argv[0] ?? ''} ends with ${code} (${result.milliseconds} ms)`, () =>
      result.code === code && said.test(text) ? true : found(`${result.code}: ${text}`, `${code}: ${said.source}`),
    );
    return result.out;
  }

  #written(name: string, text: string): string {
    const file = join(this.#context.cluster.run.path, name);
    writeFileSync(file, text);
    return file;
  }

  async #plan(): Promise<string> {
    const { namespace } = istioNames;
    const deployment = await this.#context.client.get(resourceKind('apps/v1', 'Deployment'), 'istiod', { namespace });
    // The webhook has a URL, because istiod is a process of this machine.
    const file = this.#written('istiod.json', JSON.stringify({ ...deployment, status: { availableReplicas: 1 } }));
    return this.#written(
      'adopt.yaml',
      await this.#injector(0, /all compile/, 'plan', '-i', namespace, '--istiod', file),
    );
  }

  async #tag(): Promise<void> {
    const { cluster } = this.#context;
    const argv = ['tag', 'set', 'adopted', '--revision', 'default', '-y'];
    const { code, out, errors } = await runInjector([...argv, ...clusterFlags(cluster)]);
    await this.#context.checkNow('tag set creates the tag of namespaces that move by label', () =>
      found(`${code} ${code === 0 ? '' : out + errors}`, '0 '),
    );
  }

  async #prove(): Promise<string> {
    const proof = await this.#injector(0, /"stale": 0/, 'prove', '-i', istioNames.namespace, '-o', 'json');
    return this.#written('proof.json', proof);
  }

  async #checkOurs(isExpected: boolean): Promise<void> {
    const { client } = this.#context;
    await this.#context.check(`new pods are injected by ${isExpected ? 'ours' : 'istiod'}`, async () => {
      const pod = await dryRun(client, barePod(this.#namespace, 'asked'));
      return isInjected(pod) && isOurs(pod) === isExpected;
    });
  }

  async #startLoad(): Promise<void> {
    this.#load = await startLoad(this.#context, this.#namespace);
    await sleep(quietMs);
  }

  /** @param before Istio's webhooks, if they must be the same afterwards */
  async #stopLoad(when: string, before?: string): Promise<void> {
    const load = this.#load;
    if (load === undefined) throw new Error('no load was started');
    await sleep(quietMs);
    await load.stop();
    const { twice, ...counts } = countsOf(load, this.#audit);
    this.counts.pods += load.creations.length;
    // The audit log also has the pods of earlier loads.
    this.counts.twice = twice;
    for (const key of ['refused', 'bare', 'different'] as const) this.counts[key] += counts[key];
    const row = { pods: load.creations.length, ...counts, twice };
    await this.#context.checkNow(`${when}: ${JSON.stringify(row)}`, () =>
      found(`${Object.values(counts).join(' ')} ${twice}`, '0 0 0 0'),
    );
    if (before !== undefined)
      await this.#context.checkNow("Istio's webhooks are as before", async () =>
        found(await webhooksOf(this.#istio), before),
      );
  }

  /** Measures the CPU time of istiod and of our replicas for a new pod, in milliseconds. */
  async costs({ webhooks }: Replicas) {
    const moved = await this.#context.namespace('cpu', { 'istio.io/rev': 'adopted' });
    await this.#context.check('a namespace with the label of the tag uses this injector', async () =>
      isOurs(await dryRun(this.#context.client, barePod(moved, 'asked'))),
    );
    const processes = webhooks.map(({ operator }) => operator.process);
    const istiod = await cpuPerPod(this.#context.client, this.#namespace, [this.#istio.istiod]);
    const ours = await cpuPerPod(this.#context.client, moved, processes);
    return { istiod, ours };
  }
}

async function webhooksOf({ webhook }: Istio): Promise<string> {
  return JSON.stringify((await webhook()).webhooks);
}

interface Procedure {
  readonly name: string;
  /** The webhook fields of our InjectorConfig before the procedure; absent if there is none. */
  readonly before?: object;
  /** Whether pods may be bare: the control. */
  readonly isControl?: true;
  /** Whether pods may be injected by both. */
  readonly isTwice?: true;
  readonly run: (context: ScenarioContext, istio: Istio, namespace: string) => Promise<unknown>;
}

const removeIstios = async ({ client }: ScenarioContext, { webhook }: Istio): Promise<void> => {
  await client.delete(await webhook());
  await untilActive(client);
};

const procedures: readonly Procedure[] = [
  {
    name: "remove Istio's webhook, then we publish",
    isControl: true,
    run: async (context, istio) => {
      await applyObject(context.client, ours('default'));
      await waitFor(
        'the condition ForeignOverlap',
        async () => (await conditionOf(context.client, 'default', 'ForeignOverlap'))?.status === 'True',
      );
      await removeIstios(context, istio);
      await applyUntilReady(context.client, ours('default'));
    },
  },
  {
    name: "takeover, then remove Istio's",
    isTwice: true,
    run: async (context, istio) => {
      await applyUntilReady(context.client, ours('default', takeover));
      await sleep(quietMs);
      await removeIstios(context, istio);
    },
  },
  {
    name: 'hand back: Istio first, then ours goes',
    isTwice: true,
    run: async (context, istio) => {
      await applyUntilReady(context.client, ours('default', takeover));
      const { apiVersion, kind, metadata, webhooks } = await istio.webhook();
      await removeIstios(context, istio);
      await sleep(quietMs);
      // With its caBundle: between a new installation and istiod's first patch, pods are refused.
      const { name = '', labels = {}, annotations = {} } = metadata;
      await context.client.create({ apiVersion, kind, metadata: { name, labels, annotations }, webhooks });
      await untilActive(context.client);
      await deleteForced(context.client, ours('default'));
    },
  },
  {
    name: 'label the namespace with our revision',
    // The API server reads the labels for each webhook, so they can change between two of them.
    isTwice: true,
    run: async ({ client }, _, namespace) => {
      await applyUntilReady(client, ours(ownRevision));
      await labelNamespace(client, namespace, { 'istio-injection': null, 'istio.io/rev': ownRevision });
    },
  },
  {
    name: "standby, then remove Istio's",
    run: async (context, istio) => {
      await applyUntilReady(context.client, ours('default', standby));
      await sleep(quietMs);
      await removeIstios(context, istio);
    },
  },
  {
    name: "standby, one namespace excluded from Istio's selectors, then Istio's chart again",
    run: async ({ client }, istio, namespace) => {
      await applyUntilReady(client, ours('default', standby));
      const { apiVersion, kind, metadata, webhooks } = await istio.webhook();
      const excluded = { key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: [namespace] };
      const moved = webhooks.map(({ namespaceSelector, ...webhook }) => {
        const matchExpressions = [...namespaceSelector.matchExpressions, excluded];
        return { ...webhook, namespaceSelector: { ...namespaceSelector, matchExpressions } };
      });
      await client.patch({ apiVersion, kind, metadata: { name: metadata.name ?? '' } }, 'merge', { webhooks: moved });
      await untilActive(client);
      await sleep(quietMs);
      await istio.apply();
    },
  },
];

/** Runs a procedure while pods are created, and counts what became of them. */
async function measure(context: ScenarioContext, istio: Istio, { name, isControl, isTwice, run }: Procedure) {
  const namespace = await context.namespace(`p${procedures.findIndex((each) => each.name === name) + 1}`, mesh);
  const audit = context.requireAudit();
  const load = await startLoad(context, namespace);
  await sleep(quietMs);
  await run(context, istio, namespace);
  await sleep(quietMs);
  await load.stop();
  const row = { procedure: name, pods: load.creations.length, ...countsOf(load, audit) };
  context.say(JSON.stringify(row));
  await context.checkNow(`${name}: no pod is refused or different`, () =>
    found(`${row.refused} ${row.different}`, '0 0'),
  );
  if (isControl) await context.checkNow(`${name}: the control loses pods`, () => row.bare > 0);
  else await context.checkNow(`${name}: no pod is bare`, () => found(String(row.bare), '0'));
  if (isControl !== true && isTwice !== true)
    await context.checkNow(`${name}: no pod is injected twice`, () => found(String(row.twice), '0'));
  await istio.apply();
  await removeOurs(context);
  return row;
}

/** Creates pods all the time, and compares each with the one that istiod makes now. */
async function startLoad(context: ScenarioContext, namespace: string): Promise<PodLoad> {
  const bare = barePod(namespace, 'bare-0', { spec: neverScheduled, labels: { app: 'bare' } });
  const reference = comparable(await dryRun(context.client, bare));
  return context.startLoad({
    namespace,
    replicaSetPods: 0,
    inspect: (pod) => {
      if (!isInjected(pod)) return { kind: 'plain', what: 'no sidecar' };
      const text = comparable(pod);
      return text === reference ? undefined : { kind: 'mixed', what: text };
    },
  });
}

function countsOf(load: PodLoad, audit: AuditLog) {
  const is = (kind: 'plain' | 'mixed') => load.creations.filter(({ defect }) => defect?.kind === kind).length;
  return {
    refused: load.creations.filter(({ failure }) => failure !== undefined).length,
    bare: is('plain'),
    different: is('mixed'),
    twice: calledTwice(audit, load.namespace),
  };
}

/** Counts the pods for which the API server called both injectors. */
function calledTwice(audit: AuditLog, namespace: string): number {
  return podCreations(audit.events(), namespace).filter((event) => {
    const called = calledWebhooks(event);
    const isCalled = (start: string): boolean => called.some((each) => each.startsWith(start));
    return isCalled('istio-') && isCalled('sidecar-injector-');
  }).length;
}

/** Returns a pod as text, without what differs between two pods of one injector. */
function comparable(pod: Pod): string {
  const { labels, annotations = {} } = pod.metadata;
  const others = without(annotations, injectedByAnnotation);
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  const text = JSON.stringify({ labels, annotations: others, spec: pod.spec }, sorted);
  const named = text.replaceAll(pod.metadata.name ?? '', 'NAME').replaceAll(/kube-api-access-\w+/g, 'TOKEN');
  return named.replaceAll(ownRevision, 'default');
}

/** Deletes our tags and InjectorConfigs. */
async function removeOurs(context: ScenarioContext): Promise<void> {
  for (const kind of ['RevisionTag', 'InjectorConfig'])
    for (const each of (
      await context.client.listAll<InjectorConfigObject>(resourceKind('sidecar-injector.io/v1alpha1', kind))
    ).items)
      await deleteForced(context.client, each);
  await untilGone(context);
}

/** Waits until our InjectorConfigs and their webhooks are gone. */
async function untilGone({ client }: ScenarioContext): Promise<void> {
  await waitFor(
    'our InjectorConfigs to be gone',
    async () => (await client.listAll(injectorConfigs)).items.length === 0,
  );
  await untilActive(client);
}
