import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { limitRangerAnnotation } from '../../src/explain/pod-resources.ts';
import type { DiffReport, WorkloadDiff } from '../../src/cli/diff/diff-report.ts';
import { without } from '../../src/inject/pod/without.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { workloadKey, workloadOfPod } from '../../src/routing/workload-key.ts';
import { firstDifference } from '../../scripts/conformance/conformance-case.ts';
import { applyObject } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { deletePods } from '../harness/workloads.ts';
import { meshConfig, moves, workload, type Variant } from './diff-predicts/fixtures.ts';
import { contradiction } from './diff-predicts/in-place.ts';
import { foreignLabel, startForeignWebhook } from './diff-predicts/foreign-webhook.ts';

const podKind = resourceKind('v1', 'Pod');

export const diffPredicts: Scenario = {
  name: 'diff-predicts',
  about:
    'after each of several moves between configurations, every new pod equals the prediction of `injector diff`, and the sums equal what is stored',
  full: '13 moves with 200 workloads, 6 minutes',
  run: async (context) => {
    const { client } = context;
    const [count, each] = context.size === 'full' ? [200, moves] : [42, moves.slice(0, 4)];
    await context.startOperator();
    await applyUntilReady(client, meshConfig('mesh', {}));
    await applyUntilReady(client, meshConfig('next', {}));
    await applyTagUntilReady(client, revisionTag('prod', 'mesh'));
    const follows = { 'istio.io/rev': 'prod' };
    const namespaces = [
      await context.namespace('plain', follows),
      await context.namespace('limited', follows),
      await context.namespace('foreign', { ...follows, [foreignLabel]: 'true' }),
    ];
    await applyObject(client, limitRange(namespaces[1] ?? ''));
    await startForeignWebhook(context);
    const fleet = fleetIn(context, namespaces, count);
    await fleet.create();

    await checkNames(context, namespaces[0] ?? '');
    let compared = 0;
    let [inPlace, restarts] = [0, 0];
    let before: Variant = {};
    const seconds: number[] = [];
    for (const [index, [what, variant, exitCode]] of each.entries()) {
      const { report, code, milliseconds } = await predict(context, index, before, variant);
      seconds.push(milliseconds / 1000);
      await context.checkNow(`${what}: injector diff exits with ${exitCode}`, () =>
        found(String(code), String(exitCode)),
      );
      await context.checkNow(`${what}: the prediction for now equals the pods that exist`, async () =>
        none((await fleet.compare(report, 'before')).differing),
      );
      const updates = await fleet.updates(report);
      inPlace += updates.inPlace;
      restarts += updates.restarts;
      if (index === 0) await checkPromises(context, fleet, report);
      await context.checkNow(`${what}: the API server updates those pods in place that the prediction names`, () =>
        none(updates.contradictions),
      );
      await move(context, index, variant);
      await fleet.recreate(report);
      await context.checkNow(`${what}: every new pod equals its prediction`, async () => {
        const { compared: count, differing } = await fleet.compare(report, 'after');
        compared += count;
        return none(differing);
      });
      await context.checkNow(`${what}: the sum of requests and limits equals what is stored`, async () =>
        found(JSON.stringify(await fleet.sums(report)), JSON.stringify(report.resources.after)),
      );
      const refused = report.workloads.filter(({ after }) => after.outcome === 'Refused').map(({ name }) => name);
      await context.checkNow(`${what}: the workloads that would be refused have no new pods`, async () =>
        none((await fleet.namesWithPods()).filter((name) => refused.includes(name))),
      );
      if (index === 0) await checkControls(context, fleet, report);
      before = variant;
    }
    await context.checkNow('some pods could be updated in place, and others not', () => inPlace > 0 && restarts > 0);
    const slowestDiffSeconds = Math.max(...seconds);
    context.measured({
      moves: each.length,
      workloads: count,
      podsCompared: compared,
      inPlace,
      restarts,
      slowestDiffSeconds,
    });
    return `${each.length} moves with ${count} workloads: ${compared} new pods equal their predictions, ${inPlace} pods could be updated in place and ${restarts} not; a diff takes at most ${slowestDiffSeconds.toFixed(1)} s`;
  },
};

function limitRange(namespace: string): KubernetesObject {
  const limits = [
    { type: 'Container', default: { cpu: '2', memory: '512Mi' }, defaultRequest: { cpu: '50m', memory: '32Mi' } },
  ];
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'defaults', namespace }, spec: { limits } };
}

/** Checks the exit status for names that match nothing, and for identical configurations. */
async function checkNames(context: ScenarioContext, namespace: string): Promise<void> {
  const diff = async (...flags: string[]) => {
    const { code, out, errors } = await runInjector(['diff', ...flags, ...clusterFlags(context.cluster)]);
    return `${code}: ${out} ${errors}`.replaceAll(/\s+/g, ' ');
  };
  const rows: [flags: string[], expected: RegExp][] = [
    [['--to', 'mesh'], /^0: .* the configurations are identical/],
    [['--to', 'mesh', '-n', `${namespace}s`], new RegExp(`^5: .*there is no namespace .*did you mean ${namespace}\\?`)],
    [['--to', 'mesh', '--from', 'next'], /^5: .*nothing was compared: .* none is injected by revision next/],
  ];
  for (const [flags, expected] of rows) {
    const said = await diff(...flags);
    await context.checkNow(`injector diff ${flags.join(' ')} says: ${said.slice(0, 150)}`, () => expected.test(said));
  }
}

/** Asks for the prediction by -f, by --to and by --to-values in turn. */
async function predict(context: ScenarioContext, index: number, before: Variant, variant: Variant) {
  let way = ['-f', '-'];
  let input = JSON.stringify(meshConfig(nameAt(index), variant));
  if (isTagMove(index)) {
    await applyUntilReady(context.client, meshConfig(nameAt(index + 1), variant));
    way = ['--to', nameAt(index + 1)];
  } else if (index % 2 === 1 && before.isNative === variant.isNative) {
    way = ['--to-values', '-'];
    input = JSON.stringify(meshConfig('mesh', variant).spec.injection.values);
  }
  const argv = ['diff', ...way, '--pods', '-o', 'json', ...clusterFlags(context.cluster)];
  const { code, out, errors, milliseconds } = await runInjector(argv, input);
  if (out === '') throw new Error(`injector ${argv.join(' ')} exited with ${code}: ${errors}`);
  return { report: JSON.parse(out) as DiffReport, code, milliseconds };
}

/** Every third move goes to the other revision. */
function isTagMove(index: number): boolean {
  return index % 3 === 2;
}

function nameAt(index: number): string {
  return Math.floor(index / 3) % 2 === 0 ? 'mesh' : 'next';
}

async function move(context: ScenarioContext, index: number, variant: Variant): Promise<void> {
  const { client } = context;
  const name = isTagMove(index) ? nameAt(index + 1) : nameAt(index);
  const config = await applyUntilReady(client, meshConfig(name, variant));
  if (isTagMove(index)) await applyTagUntilReady(client, revisionTag('prod', name));
  await waitFor('the tag to have the new configuration', async () => {
    const { status } = await client.get<RevisionTagObject & { status?: { hash?: string } }>(revisionTags, 'prod');
    return status?.hash === config.status?.config?.hash;
  });
  await untilActive(client);
}

/** Checks that wrong answers about updates in place are found. */
async function checkPromises(context: ScenarioContext, fleet: Fleet, report: DiffReport): Promise<void> {
  const reverse = (row: WorkloadDiff): WorkloadDiff => {
    const obstacle = { field: 'none', reason: 'Kubernetes cannot do this' };
    return row.needsRestart ? { ...row, needsRestart: row.needsRestart.length > 0 ? [] : [obstacle] } : row;
  };
  await context.checkNow('negative control: the reverse of an answer about updates in place is found', async () => {
    const reversed = { ...report, workloads: report.workloads.map(reverse) };
    const { restarts, contradictions } = await fleet.updates(reversed);
    return restarts > 0 && contradictions.length >= restarts;
  });
}

async function checkControls(context: ScenarioContext, fleet: Fleet, report: DiffReport): Promise<void> {
  const altered = JSON.parse(JSON.stringify(report).replaceAll('"proxy:1"', '"proxy:0"')) as DiffReport;
  await context.checkNow('an altered prediction is found', async () => {
    return (await fleet.compare(altered, 'after')).differing.length > 0;
  });
  await context.checkNow('the prediction for before does not equal the pods after', async () => {
    return (await fleet.compare(report, 'before')).differing.length > 0;
  });
}

type Fleet = ReturnType<typeof fleetIn>;

/** Returns the workloads of the scenario, and functions for their pods. */
function fleetIn({ client }: ScenarioContext, namespaces: readonly string[], count: number) {
  const objects = Array.from({ length: count }, (_, index) =>
    workload(namespaces[index % namespaces.length] ?? '', index),
  );
  const nameOf = ({ metadata }: KubernetesObject): string => metadata.name ?? '';
  const ownerOf = (pod: KubernetesObject) => workloadOfPod(pod, pod.metadata.namespace ?? '');

  const pods = async (): Promise<KubernetesObject[]> => {
    const lists = await Promise.all(namespaces.map((namespace) => client.listAll(podKind, { namespace })));
    return lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  };

  const untilComplete = async (refused: ReadonlySet<string>): Promise<void> => {
    const expected = objects.filter((each) => each.kind !== 'CronJob' && !refused.has(nameOf(each)));
    const areThere = async () => {
      const counts = new Map<string, number>();
      for (const { name } of (await pods()).map(ownerOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
      const lacks = (each: KubernetesObject): boolean =>
        (counts.get(nameOf(each)) ?? 0) < ((each.spec as { replicas?: number }).replicas ?? 1);
      return none(expected.filter(lacks).map((each) => `${each.kind} ${nameOf(each)}`));
    };
    await waitFor('every workload to have its pods', areThere, { timeout: 180_000 });
  };

  return {
    create: async (): Promise<void> => {
      for (const object of objects) await client.create(object);
      await untilComplete(new Set());
    },

    /** Deletes all pods, and waits until their controllers have made as many as before. */
    recreate: async ({ workloads }: DiffReport): Promise<void> => {
      const refused = new Set(workloads.filter(({ after }) => after.outcome === 'Refused').map(({ name }) => name));
      for (const namespace of namespaces) await deletePods(client, namespace);
      // A Job waits longer after each pod that was deleted, so it is created again, too.
      const isJob = ({ kind }: KubernetesObject): boolean => kind === 'Job';
      for (const job of objects.filter(isJob)) await client.delete(job);
      for (const object of objects.filter((each) => isJob(each) || (each.kind === 'Pod' && !refused.has(nameOf(each)))))
        await waitFor(`${object.kind} ${nameOf(object)} to be created again`, () =>
          client.create(object).then(
            () => true,
            () => false,
          ),
        );
      await untilComplete(refused);
    },

    namesWithPods: async () => (await pods()).map((pod) => ownerOf(pod).name),

    /** Compares each pod with its prediction. Returns the number of pods and first differences. */
    compare: async ({ workloads }: DiffReport, side: 'before' | 'after') => {
      const byKey = new Map(workloads.map((diff) => [workloadKey(diff), diff]));
      const differing: string[] = [];
      let compared = 0;
      for (const pod of await pods()) {
        const diff = byKey.get(workloadKey(ownerOf(pod)));
        const expected = diff?.predicted?.[side];
        if (diff === undefined || expected === undefined || diff.isEstimated) continue;
        const difference = firstDifference(comparable(pod), comparable(expected as KubernetesObject), '');
        compared += 1;
        if (difference !== undefined) differing.push(`${diff.kind} ${diff.namespace}/${diff.name}: ${difference}`);
      }
      return { compared, differing };
    },

    /** Tries the updates in place of which the report says whether they are possible. */
    updates: async ({ workloads }: DiffReport) => {
      const byKey = new Map(workloads.map((diff) => [workloadKey(diff), diff]));
      const contradictions: string[] = [];
      const counts = { inPlace: 0, restarts: 0 };
      for (const pod of await pods()) {
        const diff = byKey.get(workloadKey(ownerOf(pod)));
        if (diff?.needsRestart === undefined) continue;
        counts[diff.needsRestart.length === 0 ? 'inPlace' : 'restarts'] += 1;
        const found = await contradiction(client, pod, diff);
        if (found !== undefined) contradictions.push(`${diff.kind} ${diff.namespace}/${diff.name}: ${found}`);
      }
      return { ...counts, contradictions };
    },

    /** Adds up what is stored, for the workloads that the report adds up. */
    sums: async ({ workloads }: DiffReport): Promise<DiffReport['resources']['after']> => {
      const isCounted = ({ isEstimated, before, after }: WorkloadDiff): boolean =>
        !isEstimated && before.outcome !== 'Refused' && after.outcome !== 'Refused';
      const keys = new Set(workloads.filter(isCounted).map(workloadKey));
      const sum = { requests: { cpu: 0, memory: 0 }, limits: { cpu: 0, memory: 0 } };
      for (const pod of await pods()) {
        if (!keys.has(workloadKey(ownerOf(pod)))) continue;
        const { containers, initContainers = [] } = pod.spec as PodContainers;
        const running = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
        for (const { resources = {} } of running)
          for (const part of ['requests', 'limits'] as const)
            for (const name of ['cpu', 'memory'] as const) sum[part][name] += amount(resources[part]?.[name]);
      }
      const rounded = (value: number): number => Math.round(value * 1e9) / 1e9;
      return {
        requests: { cpu: rounded(sum.requests.cpu), memory: sum.requests.memory },
        limits: { cpu: rounded(sum.limits.cpu), memory: sum.limits.memory },
      };
    },
  };
}

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: Readonly<Partial<Record<'requests' | 'limits', Readonly<Record<string, string>>>>>;
}

interface PodContainers {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

const units: Readonly<Record<string, number>> = { '': 1, m: 1e-3, Mi: 2 ** 20, Gi: 2 ** 30 };

function amount(text = '0'): number {
  const [, number = '0', unit = ''] = /^([\d.]+)(\w*)$/.exec(text) ?? [];
  return Number(number) * (units[unit] ?? NaN);
}

/** The labels that controllers generate. docs/diff.md lists what is generated for each pod. */
const generatedLabels = new Set([
  ...['pod-template-hash', 'controller-revision-hash', 'pod-template-generation', 'controller-uid', 'job-name'],
  ...['batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name', 'apps.kubernetes.io/pod-index'],
  'statefulset.kubernetes.io/pod-name',
]);

/** Returns a pod without what is generated for each pod. */
function comparable({ metadata, spec }: KubernetesObject): unknown {
  const { labels = {}, annotations = {}, generateName, namespace, ownerReferences = [] } = metadata;
  // The affinity of a DaemonSet's pod names its node, and a StatefulSet sets the host name.
  const others = without({ ...(spec as object) }, 'nodeName', 'hostname', 'affinity');
  const text = JSON.stringify(others).replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access');
  return {
    labels: Object.fromEntries(Object.entries(labels).filter(([name]) => !generatedLabels.has(name))),
    annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== limitRangerAnnotation)),
    generateName,
    namespace,
    owners: ownerReferences.map(({ kind, name }) => `${kind}/${name}`),
    spec: JSON.parse(text) as unknown,
  };
}
