import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { prepullLabel } from '../../src/api/names.ts';
import { updateAnnotation } from '../../src/api/revision-tag/update-annotation.ts';
import type { RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { agent, call } from '../harness/node/agent.ts';
import { agentImage, otherAgentImage } from '../harness/node/images.ts';
import { isReady, type Pod } from '../harness/pod.ts';
import {
  applyTagUntilReady,
  describeLeft,
  restartsOf,
  revisionTag,
  type RevisionTagObject,
  revisionTags,
} from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { deployment, podsMatching, podsOf, restartDeployment, waitForDeployment } from '../harness/workloads.ts';
import { Client } from './in-place/connections.ts';
import { checkKills } from './in-place/killed-leader.ts';
import {
  app,
  checkLikeNew,
  configOf,
  configurationOf,
  describe,
  imageOf,
  isAt,
  neverReady,
  restartsIn,
  revisions,
  statusesOf,
} from './in-place/updated-pods.ts';

const name = 'in-place';
const system = `${name}-system`;
const tag = 'prod';
const bounds = { maxUnavailableWorkloads: 3, perNamespace: 3, minReadySeconds: 1, readyTimeout: '15s' };
const strategy = { update: 'InPlace', restart: bounds };
const steps = [10, 50, 100].map((weight) => ({ weight }));
const analysis = { minimumPods: 1, minReadySeconds: 1, readyTimeout: '60s' };
const prepulling = { update: 'InPlace', restart: { ...bounds, prepull: true } };

/** The number of Deployments and StatefulSets, and of pods of each and of the Job, by size. */
const sizes = {
  short: { deployments: 4, sets: 1, replicas: 2, setReplicas: 2, jobPods: 1, workloads: 8, pods: 13 },
  full: { deployments: 6, sets: 3, replicas: 6, setReplicas: 6, jobPods: 4, workloads: 12, pods: 60 },
};

export const inPlace: Scenario = {
  name,
  about:
    'on a real node, the operator updates the sidecars of running pods in place: no pod is recreated, no app container restarts, the pods equal new pods, a bad image is taken back, and a killed leader changes nothing of this',
  destructive: 'it installs the operator as real pods',
  realNode: true,
  full: '60 pods of 12 workloads by canary, a kill after each write, and what clients see, 20 minutes',
  run: async (context) => {
    const { client, cluster } = context;
    const size = sizes[context.size];
    await context.namespace('system', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    const values = [
      'controller.replicas=1',
      'webhook.replicas=1',
      'operator.updatePods=true',
      'operator.prepullPods=true',
      'operator.updateImages={localhost/agent,127.0.0.1:1/,sidecar-injector:}',
    ];
    const flags = values.flatMap((value) => ['--set', value]);
    await injectorOutput(['install', '-n', system, ...flags, ...clusterFlags(cluster)]);
    // The operator's own program does not know the arguments of the sidecar, and ends.
    const crashing = { image: await operatorImage(context) };
    for (const [revision, fields] of Object.entries({ ...revisions, crashing }))
      await applyUntilReady(client, configOf(revision, fields));
    await applyTagUntilReady(client, revisionTag(tag, 'first'));
    const namespace = await context.namespace('shop', { 'istio.io/rev': tag });
    const workloads = workloadsIn(namespace, size);
    for (const each of workloads) await client.create(each);
    const all = (): Promise<Pod[]> => podsOf(client, namespace);
    const areReady = async () => (await all()).length === size.pods && (await all()).every(isReady);
    await waitFor(`${size.pods} ready pods`, areReady, { timeout: 240_000 });
    const before = identities(await all());

    const said = await runInjector(['diff', '--to', 'larger', '--tag', tag, '-o', 'json', ...clusterFlags(cluster)]);
    const { summary } = JSON.parse(said.out) as { summary: { podsInPlace: number; podsByRestart: number } };
    await context.checkNow('injector diff says before that all pods can be updated in place', () =>
      found(`${summary.podsInPlace} ${summary.podsByRestart}`, `${size.pods} 0`),
    );
    const windows = [closedWindow()];
    await applyObject(client, revisionTag(tag, 'larger', { strategy: { ...strategy, windows } }));
    await context.check('outside the windows, the status says that all workloads can be updated in place', async () => {
      const { workloads: able, byRestart, notCompared } = (await restartsOf(context, tag)).inPlace ?? {};
      return found(`${able} ${byRestart} ${notCompared}`, `${size.workloads} 0 0`);
    });
    await applyObject(client, revisionTag(tag, 'larger', { strategy: prepulling }));
    const started = Date.now();
    const title = 'resize: all pods have more CPU, and then another image, and their updates are complete';
    await context.check(title, () => areAt(all, 'larger'), { timeout: 240_000 });
    const seconds = Math.round((Date.now() - started) / 1000);
    await checkUntouched(context, all, before, 1);
    await context.check('the tag is Idle', async () => (await restartsOf(context, tag)).phase === 'Idle');
    await checkPulls(context, all);
    for (const each of [workloads[0], workloads.at(-1)]) await checkLikeNew(context, each, await all());

    const canary = context.size === 'full' && { canary: { steps, analysis } };
    await applyObject(client, revisionTag(tag, 'next', { strategy: { ...strategy, ...canary } }));
    if (canary !== false) await checkSteps(context, all, 'next', size.workloads);
    await context.check('resize: all pods have less CPU, and then the image of next', () => areAt(all, 'next'), {
      timeout: 300_000,
    });
    await checkUntouched(context, all, before, 2);
    await checkLikeNew(context, workloads[0], await all());

    // On a busy machine, the kubelet needs long to end a container, and a program to crash.
    const failures: [revision: string, says: RegExp, readyTimeout: string][] = [
      ['huge', /refuses the change: |the node cannot give the pod its resources/, '20s'],
      ['absent', /sidecar with image 127.0.0.1:1\/absent:1 does not start/, '20s'],
      ['crashing', /sidecar with image sidecar-injector:\S+ (waits: CrashLoop|crashes)/, '60s'],
    ];
    // In the short size, one pod of another tag shows it, while the leader is killed.
    if (context.size === 'full') failures.push(['unready', neverReady, '20s']);
    const tried: number[] = [];
    for (const failure of failures) tried.push(await checkTakenBack(context, all, ...failure));
    await checkUntouched(context, all, before);

    await applyObject(client, revisionTag(tag, 'denied', { strategy }));
    await context.check('the policy of the chart denies an image that is not in its list', async () => {
      const { waiting } = await restartsOf(context, tag);
      const [refused] = waiting.filter(({ reason }) => reason === 'Refused');
      return /only images that operator.updateImages of the chart allows/.test(refused?.message ?? '');
    });
    await applyObject(client, revisionTag(tag, 'other', { strategy }));
    await context.check('workloads that need a restart are listed, with the field if a restart helps', async () => {
      const { untouched, inPlace: expected } = await restartsOf(context, tag);
      const needing = untouched.filter(({ message: why }) => why.includes('spec.initContainers[sidecar].env'));
      if (needing.length !== size.workloads - 2) throw new Error(untouched.map(describeLeft).join('; '));
      return expected?.byRestart === size.workloads;
    });
    await checkUntouched(context, all, before);
    await applyObject(client, revisionTag(tag, 'next', { strategy }));
    await context.check('after the way back, the tag is Idle', async () => {
      const { phase } = await restartsOf(context, tag);
      return phase === 'Idle' && (await areAt(all, 'next', true));
    });
    const kills = await checkKills(context, system);
    const calls = context.size === 'full' ? await checkConnections(context) : {};
    context.measured({
      ...calls,
      ...kills,
      pods: before.size,
      seconds,
      recreated: 0,
      appRestarts: 0,
      tried: Math.max(...tried),
    });
    return `${before.size} pods of ${size.workloads} workloads updated in place in ${seconds} s, 0 recreated, 0 restarts of apps; resized twice; bad CPU and images were tried in ${tried.join(', ')} pods, and taken back; the leader was killed after ${kills.killed.length} writes`;
  },
};

/** Checks that no step of a canary updates more workloads than its share. */
async function checkSteps(context: ScenarioContext, all: () => Promise<Pod[]>, revision: string, workloads: number) {
  const weights = new Set<number>();
  const above: string[] = [];
  const isPromoted = async () => {
    // The pods first: the weight only rises.
    const updated = (await all()).filter((pod) => configurationOf(pod).startsWith(`${revision}.`));
    const owners = new Set(updated.map(({ metadata: { name: pod = '' } }) => pod.split('-')[0]));
    const { status } = await context.client.get<RevisionTagObject>(revisionTags, tag);
    const { weight = 0, phase, stable, canary } = (status?.['rollout'] ?? {}) as Partial<RolloutState>;
    if (JSON.stringify(canary ?? {}).includes(`"${revision}"`)) {
      weights.add(weight);
      if (owners.size > Math.ceil((workloads * weight) / 100)) above.push(`${owners.size} at ${weight} %`);
    }
    return phase === 'Promoted' && JSON.stringify(stable).includes(`"${revision}"`);
  };
  await waitFor(`the promotion of ${revision}`, isPromoted, { timeout: 300_000, interval: 100 });
  await context.checkNow(`canary: no step (${[...weights].join(', ')} %) updated more workloads than its share`, () =>
    found(above.join('; '), ''),
  );
}

/** Measures what clients see of an update in place, and of a restart, with a drain of 5 s. */
async function checkConnections(context: ScenarioContext) {
  const { client } = context;
  const lifecycle = { preStop: { sleep: { seconds: 5 } } };
  for (const [revision, image] of Object.entries({ 'calls-1': agentImage, 'calls-2': otherAgentImage }))
    await applyUntilReady(client, configOf(revision, { image, lifecycle }));
  await applyTagUntilReady(client, revisionTag('calls', 'calls-1'));
  const namespace = await context.namespace('calls', { 'istio.io/rev': 'calls' });
  const containers = [
    agent(app, { securityContext: undefined, readinessProbe: call(8080, '/', { periodSeconds: 1 }) }),
  ];
  const spec = { containers, terminationGracePeriodSeconds: 15 };
  await client.create(deployment(namespace, 'web', { replicas: 3, spec }));
  await waitForDeployment(client, namespace, 'web');
  const pods = await podsOf(client, namespace);
  const connectTo = (port: number) =>
    pods.map((pod) => new Client((pod.status as { podIP?: string } | undefined)?.podIP ?? '', port));
  const before = identities(pods);
  const [inPlaceSidecar, inPlaceApp] = [connectTo(15020), connectTo(8080)];
  const move = { strategy: { update: 'InPlace', restart: { minReadySeconds: 0, readyTimeout: '60s' } } };
  await applyObject(client, revisionTag('calls', 'calls-2', move));
  const areUpdated = async () => {
    const others = (await podsOf(client, namespace)).filter(
      (pod) => imageOf(pod) !== otherAgentImage || !isReady(pod) || restartsIn(pod, 'sidecar') !== 1,
    );
    return found(others.map(describe).join('; '), '');
  };
  await context.check('connections: the pods are updated in place', areUpdated, { timeout: 90_000 });
  await Promise.all([...inPlaceSidecar, ...inPlaceApp].map((each) => each.stop()));
  const now = await podsOf(client, namespace);
  await context.checkNow('connections: no pod was recreated', () =>
    found(JSON.stringify([...identities(now)].sort()), JSON.stringify([...before].sort())),
  );
  await context.checkNow('connections: none to an app was refused or cut', () =>
    found(inPlaceApp.map(({ failed, cut }) => `${failed} ${cut}`).join(), '0 0,0 0,0 0'),
  );
  const early = inPlaceSidecar.flatMap(({ gaps }, index) => gaps.filter((gap) => !isAway(now[index], gap)));
  await context.checkNow('connections: those to a sidecar fail only while this sidecar restarts', () =>
    found(JSON.stringify(early), '[]'),
  );
  const recreated = [...connectTo(15020), ...connectTo(8080)];
  await restartDeployment(client, namespace, 'web');
  await waitFor('the old pods to end', async () => (await podsOf(client, namespace)).length === 3);
  await Promise.all(recreated.map((each) => each.stop()));
  const cuts = (clients: readonly Client[]) => clients.reduce((sum, { cut }) => sum + cut, 0);
  return {
    connectionsOpened: inPlaceSidecar.reduce((sum, { opened }) => sum + opened, 0),
    sidecarAwayMilliseconds: inPlaceSidecar.map(({ longest }) => longest),
    sidecarConnectionsCut: cuts(inPlaceSidecar),
    appConnectionsCut: cuts(inPlaceApp),
    restartSidecarConnectionsCut: cuts(recreated.slice(0, 3)),
    restartAppConnectionsCut: cuts(recreated.slice(3)),
  };
}

/** Reports whether the sidecar of a pod was away. The times of a status are whole seconds. */
function isAway(pod: Pod | undefined, { from, until }: { from: number; until: number }): boolean {
  const status = pod && statusesOf(pod).find((each) => each.name === 'sidecar');
  const ended = Date.parse(status?.lastState?.terminated?.finishedAt ?? '');
  const started = Date.parse(status?.state?.running?.startedAt ?? '');
  return from >= ended - 1000 && until <= started + 3000;
}

/** Checks that no pod that pulls remains, and that a failed pull changes no pod. */
async function checkPulls(context: ScenarioContext, all: () => Promise<Pod[]>): Promise<void> {
  const { client } = context;
  const pulls = () => podsMatching(client, system, { [prepullLabel]: 'true' });
  const events = await client.list(resourceKind('v1', 'Event'), { namespace: system });
  const said = events.items.map((event) => JSON.stringify(event)).filter((text) => text.includes('-prepull-'));
  await context.checkNow('a pod has pulled the image before', () => said.length > 0);
  await context.check('no pod that has pulled remains', async () => found(`${(await pulls()).length}`, '0'));
  await applyObject(client, revisionTag(tag, 'absent', { strategy: prepulling }));
  await context.check(
    'prepull: if the node cannot pull, the status names the node, the image and the error',
    async () => {
      const [first] = (await restartsOf(context, tag)).waiting.filter(({ reason }) => reason === 'NotPulled');
      const says = /^image 127\.0\.0\.1:1\/absent:1 on node \S+ could not be pulled: (ErrImagePull|ImagePullBackOff)/;
      return says.test(first?.message ?? '');
    },
  );
  await context.checkNow('prepull: no pod was changed', () => areAt(all, 'larger'));
  await applyObject(client, revisionTag(tag, 'larger', { strategy }));
  await context.check('prepull: after the way back, no pod that pulls remains', async () => {
    return found(`${(await pulls()).length}`, '0');
  });
}

/** Returns a window that begins in twelve hours. */
function closedWindow() {
  const [from, to] = [12, 13].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16));
  return { from, to };
}

/** Returns Deployments, StatefulSets, a DaemonSet, a running Job and a bare pod. */
function workloadsIn(namespace: string, size: (typeof sizes)['short']): KubernetesObject[] {
  const containers = [agent(app, { securityContext: undefined })];
  const spec = { containers, terminationGracePeriodSeconds: 2, automountServiceAccountToken: false };
  const made = (which: string, replicas: number) => deployment(namespace, which, { replicas, spec });
  const numbered = (count: number, which: string) => Array.from({ length: count }, (_, index) => `${which}${index}`);
  const deployments = numbered(size.deployments, 'web').map((which) => made(which, size.replicas));
  const sets = numbered(size.sets, 'set').map((which) => made(which, size.setReplicas));
  const daemon = made('daemon', 1);
  const { selector, template: daemonTemplate } = daemon['spec'] as Record<string, object>;
  const labels = { app: 'job' };
  return [
    ...deployments,
    ...sets.map((set) => ({ ...set, kind: 'StatefulSet', spec: { ...(set['spec'] as object), serviceName: 'set' } })),
    { ...daemon, kind: 'DaemonSet', spec: { selector, template: daemonTemplate } },
    {
      ...objectOf('batch/v1', 'Job', 'job', namespace),
      spec: {
        parallelism: size.jobPods,
        completions: size.jobPods,
        template: { metadata: { labels }, spec: { ...spec, restartPolicy: 'Never' } },
      },
    },
    { ...objectOf('v1', 'Pod', 'bare', namespace), spec },
  ];
}

const identities = (pods: readonly Pod[]) => new Map(pods.map(({ metadata }) => [metadata.name, metadata.uid]));

/** @param isLenient whether records of failed updates may remain */
async function areAt(all: () => Promise<Pod[]>, revision: string, isLenient = false): Promise<boolean> {
  const isOver = ({ metadata }: Pod) => isLenient || metadata.annotations?.[updateAnnotation] === undefined;
  const others = (await all()).filter((pod) => !isAt(pod, revision) || !isReady(pod) || !isOver(pod));
  return found(others.map(describe).join('; '), '');
}

/** Checks that pods are the same, and no app has restarted. @param times restarts of sidecars */
async function checkUntouched(
  context: ScenarioContext,
  all: () => Promise<Pod[]>,
  before: ReadonlyMap<string | undefined, string | undefined>,
  times?: number,
): Promise<void> {
  const pods = await all();
  await context.checkNow(`no pod was recreated (${pods.length})`, () =>
    found(JSON.stringify([...identities(pods)].sort()), JSON.stringify([...before].sort())),
  );
  await context.checkNow('no app container has restarted', () =>
    found(
      pods
        .filter((pod) => restartsIn(pod, 'app') !== 0)
        .map(describe)
        .join('; '),
      '',
    ),
  );
  if (times === undefined) return;
  await context.checkNow(`each sidecar has restarted ${times} times`, () =>
    found(
      pods
        .filter((pod) => restartsIn(pod, 'sidecar') !== times)
        .map(describe)
        .join('; '),
      '',
    ),
  );
}

/** Returns the image of the operator. */
async function operatorImage({ client }: ScenarioContext): Promise<string> {
  const [pod] = await podsOf(client, system);
  const [image] = pod?.spec.containers.map((each) => each.image) ?? [];
  if (image === undefined) throw new Error(`no pod runs in ${system}`);
  return image;
}

/** Moves the tag to a bad image. Returns in how many pods it was tried. */
async function checkTakenBack(
  context: ScenarioContext,
  all: () => Promise<Pod[]>,
  revision: string,
  says: RegExp,
  readyTimeout: string,
) {
  const sooner = { ...strategy, restart: { ...bounds, readyTimeout } };
  await applyObject(context.client, revisionTag(tag, revision, { strategy: sooner }));
  await context.check(
    `${revision}: the updates stop, and the message names the pod and the image`,
    async () => {
      const { phase, message } = await restartsOf(context, tag);
      if (phase === 'Stopped' && says.test(message)) return true;
      throw new Error(`${phase}: ${message}`);
    },
    { timeout: 150_000 },
  );
  await context.check(`${revision}: all pods are Ready with the image that they had before`, async () => {
    const pods = await all();
    return found(
      pods
        .filter((pod) => !isReady(pod) || !isAt(pod, 'next'))
        .map(describe)
        .join('; '),
      '',
    );
  });
  const failed = (await all()).filter(({ metadata }) => {
    return metadata.annotations?.[updateAnnotation]?.includes(`"target":"${revision}.`) === true;
  });
  await context.checkNow(
    `${revision}: ${failed.length} pods were tried, at most ${bounds.maxUnavailableWorkloads}`,
    () => {
      return failed.length >= 1 && failed.length <= bounds.maxUnavailableWorkloads;
    },
  );
  return failed.length;
}
