import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject } from '../harness/apply.ts';
import { startForeignWebhooks } from '../harness/foreign-webhooks.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { untilActive } from '../harness/until-active.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createAll, restartAllAtOnce, workload, type WorkloadKind } from '../harness/workload-kinds.ts';
import { barePod, podsOf } from '../harness/workloads.ts';
import { waitForRollout } from './canary/workloads.ts';

/** Returns a sidecar with further fields. */
const sidecar = (more: string): string => `spec:
  containers:
  - name: proxy
    image: example.com/proxy:1
${more}`;

/** `demanding` violates Pod Security, a quota and another product's rule, where there is one. */
const revisions = {
  v1: sidecar('    env: [{name: VERSION, value: "1"}]\n'),
  v2: sidecar('    env: [{name: VERSION, value: "2"}]\n'),
  demanding: sidecar(`    securityContext: {capabilities: {add: [SYS_ADMIN]}}
    resources: {requests: {ephemeral-storage: 1Mi}}
    workingDir: /forbidden
`),
  // Most pods stay valid, so the operator publishes this configuration.
  invalid: sidecar('{{ if gt (len .Spec.Containers) 1 }}    volumeMounts: [{name: none, mountPath: /none}]\n{{ end }}'),
};

interface Cause {
  readonly revision: keyof typeof revisions;
  readonly labels?: Record<string, string>;
  readonly quota?: Record<string, string>;
  /** The number of containers of the workloads. */
  readonly containers?: number;
  /** What the API server answers. */
  readonly says: RegExp;
  /** The kind of the second workload; a Job is created after the rollout has begun. */
  readonly second?: WorkloadKind | 'Job';
}

const storage = { 'requests.ephemeral-storage': '1Ki' };
const baseline = { 'pod-security.kubernetes.io/enforce': 'baseline' };
const guarded = { guarded: 'yes' };
const noPods = { quota: { pods: '1' } };

const causes: Readonly<Record<string, Cause>> = {
  validation: { revision: 'invalid', says: /volumeMounts\[0\]\.name: Not found: "none"/, containers: 2 },
  security: {
    revision: 'demanding',
    labels: baseline,
    says: /violates PodSecurity "baseline:latest"/,
    second: 'DaemonSet',
  },
  quota: {
    revision: 'demanding',
    quota: storage,
    says: /exceeded quota: full, requested: requests\.ephemeral-storage/,
  },
  webhook: {
    revision: 'demanding',
    labels: guarded,
    says: /admission webhook "zz-guard\.foreign\.example" denied the request: forbidden/,
    second: 'Job',
  },
};

/** The bound in seconds, from the first refusal. */
const boundSeconds = 30;

export const refusedPods: Scenario = {
  name: 'refused-pods',
  about:
    'if the API server refuses the pods of a canary or of a restart, the rollout is rolled back or the restarts stop within 30 s, and say why; one namespace alone, or a stable revision that is refused equally, causes no rollback',
  run: async (context) => {
    const { client } = context;
    const values = { operator: { restartWorkloads: true } };
    await context.startReplicas({ webhooks: 1, controllers: 1 }, values);
    await startForeignWebhooks(context, [
      {
        name: 'zz-guard',
        namespaceLabels: guarded,
        patch: ({ spec }) => (spec.containers.some((each) => each['workingDir'] === '/forbidden') ? 'forbidden' : []),
      },
    ]);
    for (const [name, template] of Object.entries(revisions))
      await applyUntilReady(client, injectorConfig(name, { injection: { templates: { sidecar: template } } }));
    const each = Object.entries(causes);
    const results = await sideBySide(context, [
      checkControl(context),
      checkEqual(context),
      checkHostile(context),
      ...each.map(([name, cause]) => checkCanary(context, `canary-${name}`, cause)),
      ...each.map(([name, cause]) => checkRestart(context, `restart-${name}`, cause)),
    ]);
    const seconds = results.flatMap((result) => result ?? []);
    const longest = Math.max(...seconds);
    context.measured({ refusals: seconds.length, longestSeconds: longest, boundSeconds });
    return `${seconds.length} rollouts and restarts ended at most ${longest} s after the first refusal`;
  },
};

type Place = Pick<Cause, 'labels' | 'quota' | 'containers'> & { readonly kind?: Cause['second'] };

const podSpec = (containers: number) => {
  const [app] = barePod('', 'web').spec.containers;
  return { containers: Array.from({ length: containers }, (_, at) => ({ ...app, name: `app-${at}`, ports: [] })) };
};

/** Points a tag to v1, and creates namespaces that follow it, each with a workload of one pod. */
async function open(context: ScenarioContext, tag: string, places: readonly Place[]): Promise<string[]> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag(tag, 'v1'));
  return Promise.all(
    places.map(async ({ labels, quota, containers = 1, kind = 'Deployment' }, index) => {
      const namespace = await context.namespace(`${tag}-${index}`, { 'istio.io/rev': tag, ...labels });
      await untilActive(client, { namespace: { name: namespace, labels: { 'istio.io/rev': tag } } });
      if (kind !== 'Job') {
        await createAll(context, [workload(kind, namespace, 'web', { spec: podSpec(containers) })]);
        const isRunning = async () => (await podsOf(client, namespace))[0]?.status?.phase === 'Running';
        await waitFor(`a running pod in ${namespace}`, isRunning);
      }
      if (quota !== undefined) await createQuota(context, namespace, quota);
      return namespace;
    }),
  );
}

/** Creates a quota, and waits until the API server enforces it. */
async function createQuota(
  { client }: ScenarioContext,
  namespace: string,
  hard: Record<string, string>,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' }, spec: { hard } });
  await client.request('POST', path, { body });
  await waitFor(`the quota of ${namespace}`, async () => {
    const { status } = (await client.request('GET', `${path}/full`)) as { status?: { used?: object } };
    return status?.used !== undefined;
  });
}

interface Move {
  readonly revision: string;
  readonly weight?: number;
  /** The namespaces whose workloads are restarted when they get the canary. */
  readonly restarted: readonly string[];
}

/** Moves a tag in one step, and restarts workloads. The step ends when all pods are ready. */
async function rollOut(context: ScenarioContext, tag: string, { revision, weight = 100, restarted }: Move) {
  const strategy = { canary: { steps: [{ weight }], analysis: { minReadySeconds: 1, minimumPods: 100 } } };
  await applyObject(context.client, revisionTag(tag, revision, { strategy }));
  await waitForRollout(context, tag, 'under way', ({ canary }) => canary !== undefined);
  await untilActive(context.client);
  await restartAllAtOnce(context, restarted);
}

/** Negative control: where refusals are possible, a revision that demands nothing is promoted. */
async function checkControl(context: ScenarioContext): Promise<void> {
  const place = { labels: { ...baseline, ...guarded }, quota: storage, containers: 2 };
  const restarted = await open(context, 'control', [place, place]);
  await rollOut(context, 'control', { revision: 'v2', restarted });
  const isEnd = ({ phase }: RolloutState): boolean => phase === 'Promoted' || phase === 'RolledBack';
  const { phase } = await waitForRollout(context, 'control', 'over', isEnd);
  const statement = 'negative control: in such namespaces, a revision that demands nothing is promoted';
  await context.checkNow(statement, () => phase === 'Promoted');
}

async function checkCanary(context: ScenarioContext, tag: string, cause: Cause): Promise<number> {
  const { second: kind = 'StatefulSet', containers = 1 } = cause;
  const namespaces = await open(context, tag, [cause, { ...cause, kind }]);
  const [first = '', last = ''] = namespaces;
  // If the operator can prove the cause, one namespace is enough.
  const restarted = cause === causes['validation'] ? [first] : namespaces;
  await rollOut(context, tag, { revision: cause.revision, restarted });
  if (kind === 'Job') await context.client.create(job(last, containers));
  const isRolledBack = ({ phase }: RolloutState): boolean => phase === 'RolledBack';
  const { reason, message } = await waitForRollout(context, tag, 'rolled back', isRolledBack);
  await context.checkNow(`${tag}: the status names the workload and the answer of the API server`, () => {
    return (
      reason === 'PodsRefused' &&
      message.includes(`Deployment ${first}/web (ReplicaSet web-`) &&
      cause.says.test(message)
    );
  });
  return secondsUntil(context, tag, 'RolledBack', namespaces);
}

function job(namespace: string, containers: number): KubernetesObject {
  const template = { spec: { ...podSpec(containers), restartPolicy: 'Never' } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'late', namespace }, spec: { template } };
}

async function checkRestart(context: ScenarioContext, tag: string, cause: Cause): Promise<number> {
  const namespaces = await open(context, tag, [cause, { ...cause, kind: 'StatefulSet' }]);
  // The bounds of one tag count the restarts of all tags.
  const restart = { maxUnavailableWorkloads: 100, perNamespace: 1, minReadySeconds: 1 };
  await applyTagUntilReady(context.client, revisionTag(tag, cause.revision, { strategy: { restart } }));
  const flags = ['-o', 'json', ...clusterFlags(context.cluster)];
  const { code } = await runInjector(['tag', 'watch', tag, ...flags]);
  const { phase, message } = await restartsOf(context, tag);
  await context.checkNow(`${tag}: the restarts stop and say why, and injector tag watch ends with 3`, () => {
    return phase === 'Stopped' && /its new pods are refused \(/.test(message) && cause.says.test(message) && code === 3;
  });
  const { out } = await runInjector(['status', '-n', namespaces[0] ?? '', ...flags]);
  const { refused } = JSON.parse(out) as { refused: { workload: string; message: string }[] };
  await context.checkNow(`${tag}: injector status lists the workload`, () => {
    return refused.some((each) => each.workload === 'Deployment/web' && cause.says.test(each.message));
  });
  return secondsUntil(context, tag, 'RestartsStopped', namespaces);
}

/** How long a rollout is observed that must not be rolled back, in milliseconds. */
const observedMs = 25_000;

async function checkEqual(context: ScenarioContext): Promise<void> {
  const restarted = await open(context, 'equal', [noPods, noPods, noPods, noPods]);
  await rollOut(context, 'equal', { revision: 'v2', weight: 50, restarted });
  await sleep(observedMs);
  await checkGoesOn(context, 'equal', 'stable pods are refused equally');
}

async function checkHostile(context: ScenarioContext): Promise<void> {
  const restarted = await open(context, 'hostile', [noPods, {}, {}]);
  await rollOut(context, 'hostile', { revision: 'v2', restarted });
  const [namespace = ''] = restarted;
  const { items } = await context.client.list(resourceKind('apps/v1', 'ReplicaSet'), { namespace });
  const names = ['gone-1', ...items.map(({ metadata }) => metadata.name ?? '')];
  for (let times = 0; times < 5; times += 1) {
    await Promise.all(names.map((name) => applyObject(context.client, forgedEvent(namespace, name))));
    await sleep(observedMs / 5);
  }
  await checkGoesOn(context, 'hostile', 'one namespace has a full quota, and its author forges Events');
}

function forgedEvent(namespace: string, name: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `forged-${name}`, namespace },
    involvedObject: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, namespace },
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'Error creating: Pod "x" is invalid: spec: forged',
    lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
  };
}

async function checkGoesOn(context: ScenarioContext, tag: string, why: string): Promise<void> {
  const { phase, message } = await waitForRollout(context, tag, 'known', () => true);
  await context.checkNow(`${tag}: the rollout waits and names the refused pods, because ${why}`, () => {
    if (phase === 'WaitingForPods' && /; pods are refused: Deployment \S+\/web \(/.test(message)) return true;
    throw new Error(`${phase}: ${message}`);
  });
}

type Times = KubernetesObject & { readonly firstTimestamp?: string | null };

/** Returns the seconds from the first refusal in these namespaces to an Event about a tag. */
async function secondsUntil(
  context: ScenarioContext,
  tag: string,
  reason: string,
  namespaces: readonly string[],
): Promise<number> {
  const events = resourceKind('v1', 'Event');
  const about = { namespace: 'default', fieldSelector: `involvedObject.name=${tag},reason=${reason}` };
  const end = await waitFor(`Event ${reason} of ${tag}`, async () => {
    const [event] = (await context.client.list<Times>(events, about)).items;
    return event?.metadata.creationTimestamp;
  });
  const lists = await Promise.all(
    namespaces.map((namespace) =>
      context.client.list<Times>(events, { namespace, fieldSelector: 'reason=FailedCreate' }),
    ),
  );
  const refusals = lists.flatMap(({ items }) => items.map(({ firstTimestamp }) => Date.parse(firstTimestamp ?? '')));
  const seconds = (Date.parse(end) - Math.min(...refusals)) / 1000;
  await context.checkNow(
    `${tag}: ${reason} at most ${boundSeconds} s after the first refusal`,
    () => seconds <= boundSeconds,
  );
  return seconds;
}
