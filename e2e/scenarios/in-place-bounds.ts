import { setTimeout as sleep } from 'node:timers/promises';
import { dump } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { updateAnnotation } from '../../src/api/revision-tag/update-annotation.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import { createNodes } from '../harness/cluster.ts';
import { follow } from '../harness/follow.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { createAll, nameOf, workload } from '../harness/workload-kinds.ts';
import { type Peaks, peaksOf, type PodVersion, podVersion } from './in-place-bounds/pod-history.ts';

const name = 'in-place-bounds';
/** The number of namespaces of each tag, and of workloads in each, by size. */
const sizes = { short: { namespaces: 3, workloads: 9 }, full: { namespaces: 6, workloads: 24 } };
const bounds = { maxUnavailableWorkloads: 24, perNamespace: 7, minReadySeconds: 2, readyTimeout: '10s' };
const strategy = { update: 'InPlace', restart: bounds };
/** How long an updated pod is whole at least; in ms. Times in statuses are whole seconds. */
const wholeMs = 900;

/** The kubelets of the nodes, and whether they restart a native sidecar with a startup probe. */
const kubelets: Record<string, boolean> = {
  'v1.30.14': false,
  'v1.31.14': false,
  'v1.32.9': true,
  'v1.33.5': true,
  'v1.34.3': true,
  'v1.35.2': false,
  'v1.35.4': true,
  'v1.36.3': true,
};
const nodeOf = (version: string) => `kubelet-${version.replaceAll('.', '-')}`;
const nodes = Object.keys(kubelets);
const able = nodes.filter((version) => kubelets[version] === true);
const unable = nodes.filter((version) => kubelets[version] === false);

const revisions: Record<string, [isNative: boolean, image: string]> = {
  'native-1': [true, 'example.com/proxy:1'],
  'native-2': [true, 'example.com/proxy:2'],
  'native-absent': [true, 'example.com/absent/proxy:3'],
  'classic-1': [false, 'example.com/agent:1'],
  'classic-2': [false, 'example.com/agent:2'],
  'classic-crashing': [false, 'example.com/crashing/agent:3'],
};

export const inPlaceBounds: Scenario = {
  name,
  about:
    'updates in place of hundreds of pods for two tags hold their bounds, budgets, windows and consent at every stored version of a pod, leave kubelets alone that cannot restart a sidecar, and take bad images back',
  destructive: 'it adds nodes with old kubelets',
  ownControlPlane: true,
  full: '1,100 pods, about 7 minutes',
  run: async (context) => {
    const { client, cluster } = context;
    for (const version of nodes) await createNodes(client, [nodeOf(version)], version);
    const installation = await context.install({
      operator: { updatePods: true, updateImages: ['example.com/'] },
    });
    const operator = await installation.startOperator({ flags: [shortLeases] });
    const audit = context.requireAudit();
    for (const [revision, [isNative, image]] of Object.entries(revisions))
      await applyUntilReady(client, configOf(revision, isNative, image));
    await applyTagUntilReady(client, revisionTag('native', 'native-1'));
    await applyTagUntilReady(client, revisionTag('classic', 'classic-1'));
    const fixtures = await createFixtures(context);
    const { all, updatable, shared } = fixtures;
    const versions: PodVersion[] = [];
    const pods = new Map<string, PodVersion>();
    const see = (object: KubernetesObject, gone: boolean) => {
      const version = podVersion(object, gone, Date.now());
      if (!version.namespace.startsWith(name) || version.namespace === installation.namespace) return;
      versions.push(version);
      pods.set(version.uid, version);
    };
    const following = await follow(context, resourceKind('v1', 'Pod'), {}, see);
    const live = () => {
      if (following.failure() !== undefined) throw new Error('the watch failed', { cause: following.failure() });
      return [...pods.values()].filter(({ gone }) => !gone);
    };
    const isAll = () => new Set(live().map((pod) => pod.workload)).size === all.length && live().every(isWhole);
    await waitFor(`ready pods of ${all.length} workloads`, isAll, { timeout: 120_000 });
    const imagesIn =
      (workloads: readonly string[], part: string, isWanted = true) =>
      () => {
        const others = live().filter(
          (each) => workloads.includes(each.workload) && each.images.includes(part) !== isWanted,
        );
        return found([...new Set(others.map((each) => `${each.workload} ${each.images}`))].slice(0, 5).join('; '), '');
      };
    const from = { pods: live().length, identities: identities(live()) };

    // Before anything happens, injector diff and the status say what will happen.
    const expected = { native: [fixtures.native, fixtures.unable], classic: [fixtures.classic, []] };
    const podsOf = (workloads: readonly string[] = []) =>
      live().filter((each) => workloads.includes(each.workload)).length;
    for (const [tag, [inPlace, byRestart]] of Object.entries(expected)) {
      const flags = ['--to', `${tag}-2`, '--tag', tag, '-o', 'json', ...clusterFlags(cluster)];
      const { summary } = JSON.parse((await runInjector(['diff', ...flags])).out) as Diff;
      await context.checkNow(`injector diff says before which pods of ${tag} can be updated in place`, () =>
        found(`${summary.podsInPlace} ${summary.podsByRestart}`, `${podsOf(inPlace)} ${podsOf(byRestart)}`),
      );
    }
    const closed = { ...strategy, windows: [closedWindow()] };
    for (const tag of Object.keys(expected))
      await applyObject(client, revisionTag(tag, `${tag}-2`, { strategy: closed }));
    for (const [tag, [inPlace = [], byRestart = []]] of Object.entries(expected)) {
      const numbers = `${inPlace.length} ${byRestart.length} 0`;
      await context.check(`outside the windows, the status of ${tag} says ${numbers}`, async () => {
        const { workloads, byRestart: others, notCompared } = (await restartsOf(context, tag)).inPlace ?? {};
        return found(`${workloads} ${others} ${notCompared}`, numbers);
      });
    }
    await context.checkNow('outside the windows, no pod is updated', imagesIn(all, ':1'));

    const [started, requests] = [Date.now(), countRequests(audit, installation.username)];
    let after = versions.length;
    for (const tag of ['native', 'classic']) await applyObject(client, revisionTag(tag, `${tag}-2`, { strategy }));
    const updatedOf = (workloads: readonly string[]) =>
      live().filter((each) => workloads.includes(each.workload) && each.images.includes(':2')).length;
    const arrive = (share: number) =>
      waitFor(`${share * 100} % of the updates`, () => updatedOf(updatable) >= from.pods * share, { timeout: 60_000 });
    await arrive(0.15);
    await operator.process.kill();
    await operator.restart();
    context.say('the leader was killed and restarted during the updates');
    await arrive(0.3);
    await checkClosing(context, closed, () => updatedOf(fixtures.native));
    await context.check('all pods that can be updated in place have the new image', imagesIn(updatable, ':2'), {
      timeout: 240_000,
    });
    const areDone = async () => found((await recordsOf(context)).join('; '), '');
    await context.check('no pod has a record of an update', areDone);
    const seconds = Math.round((Date.now() - started) / 100) / 10;
    const counts = countRequests(audit, installation.username, requests);
    const peaks = peaksOf(versions, after, wholeMs, shared);
    await checkPeaks(context, peaks);
    await context.checkNow('each pod was updated once, and is the same pod', () =>
      found(`${peaks.updates} ${identities(live())}`, `${updatedOf(updatable)} ${from.identities}`),
    );
    await context.checkNow('the sidecar of each updated pod has restarted once, and no other container', () =>
      found(
        live()
          .filter((pod) => pod.restarts !== (pod.images.includes(':2') ? 1 : 0))
          .map((pod) => pod.workload)
          .join(),
        '',
      ),
    );
    await context.checkNow('no pod of other workloads was updated', imagesIn(fixtures.untouched, ':1'));
    await checkReasons(context, fixtures);

    after = versions.length;
    const tried = await checkTakenBack(context, () => live().filter(({ images }) => images.includes(':3')).length);
    const back = peaksOf(versions, after, wholeMs, shared);
    await context.checkNow(
      `bad images were tried in ${tried} pods, within the bounds (${describe(back)})`,
      () =>
        back.inWorkload === 1 &&
        back.cluster <= bounds.maxUnavailableWorkloads &&
        back.namespace <= bounds.perNamespace,
    );
    const control = await checkNegativeControl(context, fixtures, versions, isAll);
    const perPod = Math.round((10 * counts.total) / peaks.updates) / 10;
    context.measured({ ...from, ...peaks, ...bounds, seconds, requests: counts.total, requestsPerPod: perPod, tried });
    context.measured({ controlCluster: control.cluster, controlInWorkload: control.inWorkload });
    return `${peaks.updates} of ${from.pods} pods updated in place in ${seconds} s with ${counts.total} requests (${counts.text}; ${perPod} a pod); at ${peaks.versions} versions, at most ${describe(peaks)} (negative control: ${describe(control)})`;
  },
};

interface Diff {
  readonly summary: { readonly podsInPlace: number; readonly podsByRestart: number };
}

const isWhole = (pod: PodVersion) => pod.isWhole;
const identities = (pods: readonly PodVersion[]) =>
  pods
    .map(({ uid }) => uid)
    .sort()
    .join();
const describe = ({ cluster, namespace, inWorkload, slots, ofGroup }: Peaks) =>
  `${cluster} workloads away, ${namespace} in a namespace, ${inWorkload} pods of a workload, ${ofGroup} of a budget, ${slots} away or just back`;

function configOf(revision: string, isNative: boolean, image: string) {
  const startupProbe = { httpGet: { path: '/', port: 15020 } };
  const sidecar = { name: 'sidecar', image, ...(isNative && { restartPolicy: 'Always', startupProbe }) };
  const spec = isNative ? { initContainers: [sidecar] } : { containers: [sidecar] };
  return injectorConfig(revision, { injection: { templates: { sidecar: dump({ spec }) } } });
}

/** Returns a window that begins in twelve hours. */
function closedWindow() {
  const [from, to] = [12, 13].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16));
  return { from, to };
}

/** Returns a part of a pod's spec that selects nodes by the versions of their kubelets. */
function onKubelets(versions: readonly string[]) {
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: versions.map(nodeOf) }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } };
}

/** Creates the workloads of both tags, and returns their names by what must happen to them. */
async function createFixtures(context: ScenarioContext) {
  const { namespaces, workloads: count } = sizes[context.size];
  const objects: Record<'native' | 'classic' | 'unable' | 'denied' | 'shared' | 'closed', KubernetesObject[]> = {
    native: [],
    classic: [],
    unable: [],
    denied: [],
    shared: [],
    closed: [],
  };
  for (let index = 0; index < namespaces; index++) {
    for (const tag of ['native', 'classic'] as const) {
      const namespace = await context.namespace(`${tag}-${index}`, { 'istio.io/rev': tag });
      for (let number = 0; number < count; number++) {
        const app = `work-${String(number).padStart(2, '0')}`;
        // Every fourth workload of tag native has kubelets that cannot restart a sidecar.
        const isUnable = tag === 'native' && number % 4 === 3;
        const version = [(isUnable ? unable : able)[(index + number) % 3] ?? ''];
        const versions =
          tag === 'classic' ? nodes : isUnable && index % 2 === 0 ? [...version, 'v1.36.3'] : isUnable ? version : able;
        const kind = isUnable && index % 2 === 0 ? 'DaemonSet' : number % 2 === 0 ? 'Deployment' : 'StatefulSet';
        objects[isUnable ? 'unable' : tag].push(
          workload(kind, namespace, app, { replicas: 4, ...onKubelets(versions) }),
        );
      }
    }
  }
  const guarded = await context.namespace('guarded', { 'istio.io/rev': 'classic' });
  const budgets = Object.entries({ shared: 5, closed: 2 }).map(([guard, minAvailable]) => ({
    ...objectOf('policy/v1', 'PodDisruptionBudget', guard, guarded),
    spec: { minAvailable, selector: { matchLabels: { guard } } },
  }));
  for (const app of ['shared-a', 'shared-b', 'shared-c'])
    objects.shared.push(workload('Deployment', guarded, app, { replicas: 2, labels: { guard: 'shared' } }));
  objects.closed.push(workload('Deployment', guarded, 'closed', { replicas: 2, labels: { guard: 'closed' } }));
  const denying = await context.namespace('denying', { 'istio.io/rev': 'classic' });
  const annotations = { 'sidecar-injector.io/updates': 'deny' };
  await context.client.patch(objectOf('v1', 'Namespace', denying), 'merge', { metadata: { annotations } });
  objects.denied.push(workload('Deployment', denying, 'denied', { replicas: 2 }));
  await createAll(context, [...Object.values(objects).flat(), ...budgets]);
  const names = (...kinds: (keyof typeof objects)[]) => kinds.flatMap((kind) => objects[kind].map(nameOf));
  return {
    all: names('native', 'classic', 'unable', 'denied', 'shared', 'closed'),
    native: names('native'),
    classic: names('classic', 'shared', 'closed', 'denied'),
    unable: names('unable'),
    shared: names('shared'),
    updatable: names('native', 'classic', 'shared'),
    untouched: names('unable', 'denied', 'closed'),
  };
}

type Fixtures = Awaited<ReturnType<typeof createFixtures>>;

/** Closes the windows of tag native during the updates: no further one begins, until they open. */
async function checkClosing(context: ScenarioContext, closed: object, updated: () => number): Promise<void> {
  await applyObject(context.client, revisionTag('native', 'native-2', { strategy: closed }));
  await context.check('when the windows close, the updates that have begun are completed', async () => {
    const { inProgress, waiting } = await restartsOf(context, 'native');
    return inProgress === 0 && waiting[0]?.reason === 'Window';
  });
  const before = updated();
  await sleep(2000);
  await context.checkNow(`after that, no further update begins (${before})`, () => found(`${updated()}`, `${before}`));
  await applyObject(context.client, revisionTag('native', 'native-2', { strategy }));
}

async function checkPeaks(context: ScenarioContext, peaks: Peaks): Promise<void> {
  const { cluster, namespace, inWorkload, slots, ofGroup } = peaks;
  const { maxUnavailableWorkloads, perNamespace } = bounds;
  // Lower peaks would mean that updates are too slow, or that the observer misses changes.
  await context.checkNow(
    `at ${peaks.versions} versions of pods, the bounds and a budget held, and were reached (${describe(peaks)})`,
    () => found([cluster, namespace, inWorkload, ofGroup].join(' '), `${maxUnavailableWorkloads} ${perNamespace} 1 1`),
  );
  await context.checkNow(
    `whenever an update began, at most ${maxUnavailableWorkloads} workloads were away or just back`,
    () => slots <= maxUnavailableWorkloads || found(String(slots), ''),
  );
}

/** Returns the pods that record an update. */
async function recordsOf({ client }: ScenarioContext): Promise<string[]> {
  const { items } = await client.listAll<Pod>(resourceKind('v1', 'Pod'), {});
  return items.flatMap(({ metadata }) => {
    const record = metadata.annotations?.[updateAnnotation];
    return record === undefined ? [] : [`${metadata.namespace}/${metadata.name} ${record}`];
  });
}

async function checkReasons(context: ScenarioContext, { unable: left }: Fixtures): Promise<void> {
  await context.check('the status lists the workloads on old kubelets, with the version', async () => {
    const { untouched } = await restartsOf(context, 'native');
    const named = untouched.filter((each) =>
      /NeedsRestart.*(this one is 1\.3[015])/.test(`${each.reason} ${each.message}`),
    );
    return found(String(named.length), String(Math.min(20, left.length)));
  });
  await context.check('the status lists the workload with a closed budget, and the one without consent', async () => {
    const { waiting, untouched } = await restartsOf(context, 'classic');
    return found(
      [...waiting, ...untouched].map((each) => `${each.name} ${each.reason}`).join(),
      'closed Budget,denied Denied',
    );
  });
}

/** Moves both tags to bad images. Returns in how many pods they were tried. */
async function checkTakenBack(context: ScenarioContext, trying: () => number): Promise<number> {
  const says = { 'native-absent': /absent\/proxy:3 does not start/, 'classic-crashing': /waits: CrashLoopBackOff/ };
  for (const revision of Object.keys(says))
    await applyObject(context.client, revisionTag(revision.split('-')[0] ?? '', revision, { strategy }));
  for (const [revision, message] of Object.entries(says)) {
    await context.check(`${revision}: the updates stop, and the status says why`, async () => {
      const restarts = await restartsOf(context, revision.split('-')[0] ?? '');
      return (
        (restarts.phase === 'Stopped' && message.test(restarts.message)) || found(restarts.message, String(message))
      );
    });
  }
  await context.check('no pod keeps a bad image', () => trying() === 0);
  const failed = (await recordsOf(context)).filter((record) => record.includes('"failed"'));
  for (const tag of ['native', 'classic'])
    await applyObject(context.client, revisionTag(tag, `${tag}-2`, { strategy }));
  return failed.length;
}

/** A second actor updates pods regardless of the bounds: the observer must see it. */
async function checkNegativeControl(
  context: ScenarioContext,
  { classic, shared }: Fixtures,
  versions: readonly PodVersion[],
  areWhole: () => boolean,
): Promise<Peaks> {
  await waitFor('all pods to be whole', areWhole);
  const after = versions.length;
  const { items } = await context.client.listAll<KubernetesObject & Pod>(resourceKind('v1', 'Pod'), {});
  const chosen = items.filter(({ metadata }) => classic.includes(`${metadata.namespace}/${metadata.labels?.['app']}`));
  await Promise.all(
    chosen.map((pod) => {
      const containers = pod.spec.containers.map((each) =>
        each.name === 'sidecar' ? { ...each, image: 'example.com/agent:1' } : each,
      );
      return context.client.patch({ ...pod, apiVersion: 'v1', kind: 'Pod' }, 'merge', { spec: { containers } });
    }),
  );
  await waitFor('all pods to be whole again', areWhole);
  const peaks = peaksOf(versions, after, wholeMs, shared);
  await context.checkNow(`negative control: a second actor is seen (${describe(peaks)})`, () => {
    const { cluster, namespace, inWorkload, slots, ofGroup } = peaks;
    const { maxUnavailableWorkloads, perNamespace } = bounds;
    const isSeen = cluster > maxUnavailableWorkloads && slots > maxUnavailableWorkloads && namespace > perNamespace;
    return isSeen && inWorkload > 1 && ofGroup > 1;
  });
  return peaks;
}

/** Counts the operator's requests, by verb and resource. */
function countRequests(audit: AuditLog, username: string, { total: before } = { total: 0 }) {
  const own = audit
    .events()
    .filter(({ user, objectRef }) => user.username === username && objectRef?.resource !== 'leases');
  const counts = new Map<string, number>();
  for (const { verb, objectRef } of own.slice(before)) {
    const what = `${verb} ${objectRef?.resource ?? ''}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, 5);
  return { total: own.length - before, text: most.map(([what, count]) => `${count} ${what}`).join(', ') };
}
