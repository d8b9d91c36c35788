import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { limitRangerAnnotation } from '../../src/explain/limit-range.ts';
import type { DiffReport, WorkloadDiff } from '../../src/cli/diff/diff-report.ts';
import { without } from '../../src/inject/pod/without.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { workloadKey, workloadOfPod } from '../../src/routing/workload-key.ts';
import { firstDifference } from '../../scripts/conformance/conformance-case.ts';
import { dryRun, refusal } from '../harness/admissions.ts';
import { applyAll, applyObject } from '../harness/apply.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { deletePods } from '../harness/workloads.ts';
import { isOdd, istioNamespace, meshConfig, moves, podOf, workload, type Variant } from './diff-predicts/fixtures.ts';
import { foreignLabel, startForeignWebhook } from './diff-predicts/foreign-webhook.ts';
import { istioConfigMaps, istioTexts, withTag } from './istio-templates/istio-texts.ts';

type Side = 'before' | 'after';

export const diffPredicts: Scenario = {
  name: 'diff-predicts',
  about:
    'after each of several moves between configurations, every new pod equals the prediction of `injector diff`, and the sums equal what is stored',
  paired: true,
  full: `${moves.length} moves with 200 workloads, 6 minutes`,
  run: async (context) => {
    const { client } = context;
    const [count, each] = context.size === 'full' ? [200, moves] : [42, moves.slice(0, 3)];
    await context.startOperator();
    const { texts, source } = istioTexts();
    const istio = await context.namespace(istioNamespace);
    for (const tag of ['one', 'two']) await applyAll(client, istioConfigMaps(istio, tag, withTag(texts, tag)));
    for (const name of ['mesh', 'next']) await applyUntilReady(client, meshConfig(name, {}));
    await applyTagUntilReady(client, revisionTag('prod', 'mesh'));
    const follows = { 'istio.io/rev': 'prod' };
    const namespaces = [
      await context.namespace('plain', follows),
      await context.namespace('limited', follows),
      await context.namespace('foreign', { ...follows, [foreignLabel]: 'true' }),
    ];
    await applyObject(client, limitRange(namespaces[1] ?? ''));
    await startForeignWebhook(context);
    const fleet = new Fleet(context, namespaces, count);
    await fleet.create();

    const [total, seconds] = [{ exact: 0, estimated: 0, refused: 0, changedByOthers: 0 }, [] as number[]];
    let before: Variant = {};
    for (const [index, [what, variant, exitCode]] of each.entries()) {
      const { report, code, milliseconds } = await predict(context, index, before, variant);
      seconds.push(Math.round(milliseconds / 100) / 10);
      const check = (statement: string, holds: () => Promise<string[]>) =>
        context.checkNow(`${what}: ${statement}`, async () => none(await holds()));
      await context.checkNow(`${what}: injector diff exits with ${exitCode}`, () => found(`${code}`, `${exitCode}`));
      await context.checkNow(`${what}: injector diff names the workloads that would be refused`, () =>
        found(refusedIn(report).join(), variant.fails === true ? fleet.odd.join() : ''),
      );
      await check('the prediction for now equals the pods that exist', () => fleet.differences(report, 'before'));
      await check('the requests and limits for now equal what is stored', () => fleet.otherSums(report, 'before'));
      await move(context, index, variant);
      await fleet.recreate(report);
      await check('every new pod equals its prediction', () => fleet.differences(report, 'after'));
      total.exact += fleet.compared.exact;
      total.estimated += fleet.compared.estimated;
      total.refused += report.summary.failing;
      total.changedByOthers += report.summary.changedByOthers;
      await check('the requests and limits equal what is stored', () => fleet.otherSums(report, 'after'));
      await check('pods that would be refused are refused with this message', () => fleet.otherRefusals(report));
      if (index === 0) await checkControls(context, fleet, report);
      before = variant;
    }
    context.measured({ moves: each.length, workloads: count, templates: source, ...total, diffSeconds: seconds });
    return `${each.length} moves with ${count} workloads: ${total.exact} new pods equal their predictions, and ${total.estimated} their estimates; ${total.changedByOthers} rows also changed by others, ${total.refused} refused; a diff takes at most ${Math.max(...seconds)} s`;
  },
};

function limitRange(namespace: string): KubernetesObject {
  const limits = [
    { type: 'Container', default: { cpu: '2', memory: '512Mi' }, defaultRequest: { cpu: '50m', memory: '32Mi' } },
  ];
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'defaults', namespace }, spec: { limits } };
}

/** Asks for the prediction by -f, by --to and by --to-values in turn. */
async function predict(context: ScenarioContext, index: number, before: Variant, variant: Variant) {
  let way = ['-f', '-'];
  let input = JSON.stringify(meshConfig(nameAt(index), variant));
  if (isTagMove(index)) {
    await applyUntilReady(context.client, meshConfig(nameAt(index + 1), variant));
    way = ['--to', nameAt(index + 1)];
  } else if (index % 2 === 1 && before.isNative === variant.isNative && variant.istio === undefined) {
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

async function checkControls(context: ScenarioContext, fleet: Fleet, report: DiffReport): Promise<void> {
  const text = JSON.stringify(report);
  const value = '"value":"emptyDir"';
  // The last pod in the report is the prediction of a StatefulSet after the move.
  const at = text.lastIndexOf(value);
  const altered = JSON.parse(`${text.slice(0, at)}"value":"other"${text.slice(at + value.length)}`) as DiffReport;
  for (const [wrong, side] of [
    [altered, 'after'],
    [report, 'before'],
  ] as const)
    await context.checkNow(
      `negative control: ${wrong === altered ? 'one altered variable' : 'the prediction before the move'} does not equal the new pods`,
      async () => (await fleet.differences(wrong, side)).length > 0,
    );
}

function refusedIn({ workloads }: DiffReport): string[] {
  return workloads
    .filter(({ after }) => after.outcome === 'Refused')
    .map(workloadKey)
    .sort();
}

/** The workloads of the scenario and their pods. */
class Fleet {
  /** The workloads that variants with `fails` refuse. */
  readonly odd: readonly string[];
  /** The numbers of pods in the last comparison. */
  compared = { exact: 0, estimated: 0 };
  readonly #context: ScenarioContext;
  readonly #namespaces: readonly string[];
  readonly #objects: ReadonlyMap<string, KubernetesObject>;
  /** Workloads that may be missing from the next report, because they were refused. */
  #absent: ReadonlySet<string> = new Set();

  constructor(context: ScenarioContext, namespaces: readonly string[], count: number) {
    this.#context = context;
    this.#namespaces = namespaces;
    const objects = Array.from({ length: count }, (_, index) =>
      workload(namespaces[index % namespaces.length] ?? '', index),
    );
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
    this.odd = objects.filter(isOdd).map(keyOf).sort();
  }

  async create(): Promise<void> {
    for (const object of this.#objects.values()) await this.#context.client.create(object);
    await this.#untilComplete(new Set());
  }

  /** Deletes all pods, and waits until their controllers have made as many as before. */
  async recreate(report: DiffReport): Promise<void> {
    const { client } = this.#context;
    const refused = new Set(refusedIn(report));
    for (const namespace of this.#namespaces) await deletePods(client, namespace);
    // A Job waits longer after each pod that was deleted, so it is created again, too.
    for (const [key, object] of this.#objects) {
      if (object.kind === 'Job') await client.delete(object);
      if (object.kind !== 'Job' && (object.kind !== 'Pod' || refused.has(key))) continue;
      const create = () => client.create(object).then(Boolean, () => false);
      await waitFor(`${key} to be created again`, create);
    }
    await this.#untilComplete(refused);
  }

  async #untilComplete(refused: ReadonlySet<string>): Promise<void> {
    const expected = [...this.#objects].filter(([key, { kind }]) => kind !== 'CronJob' && !refused.has(key));
    const replicas = ({ spec }: KubernetesObject): number => (spec as { replicas?: number }).replicas ?? 1;
    const isComplete = async () => {
      const pods = await this.#pods();
      const missing = expected.filter(([key, object]) => (pods.get(key)?.length ?? 0) < replicas(object));
      return none(missing.map(([key]) => key));
    };
    await waitFor('every workload to have its pods', isComplete, { timeout: 180_000 });
  }

  /** Returns the pods by workload. */
  async #pods(): Promise<Map<string, Pod[]>> {
    const pods = new Map<string, Pod[]>();
    for (const namespace of this.#namespaces)
      for (const pod of (await this.#context.client.listAll<Pod>(resourceKind('v1', 'Pod'), { namespace })).items) {
        const key = workloadKey(workloadOfPod(pod, namespace));
        if (pod.metadata.deletionTimestamp === undefined) pods.set(key, [...(pods.get(key) ?? []), pod]);
      }
    return pods;
  }

  /** Returns the pods, and for a row without pods the pod that its template gives in a dry run. */
  async #stored({ workloads }: DiffReport, side: Side): Promise<Map<string, Pod[]>> {
    const pods = await this.#pods();
    for (const diff of workloads.filter((each) => each[side].outcome !== 'Refused' && !pods.has(workloadKey(each)))) {
      const { generateName, name, ownerReferences = [] } = (diff.predicted?.[side] as KubernetesObject).metadata;
      const template = podOf(this.#objects.get(workloadKey(diff))!);
      const made = { generateName, name, ownerReferences: ownerReferences.map((each) => ({ ...each, uid: 'none' })) };
      const pod = { ...template, metadata: { ...template.metadata, ...made } };
      pods.set(workloadKey(diff), Array<Pod>(diff.pods).fill(await dryRun(this.#context.client, pod)));
    }
    return pods;
  }

  /** Returns the first difference of each pod from its prediction. */
  async differences(report: DiffReport, side: Side): Promise<string[]> {
    const rows = new Map(report.workloads.map((diff) => [workloadKey(diff), diff]));
    const problems: string[] = [];
    this.compared = { exact: 0, estimated: 0 };
    for (const [key, pods] of await this.#stored(report, side)) {
      const diff = rows.get(key);
      rows.delete(key);
      if (diff === undefined) {
        if (pods.some(isInjected) && !this.#absent.has(key)) problems.push(`${key} is not in the report`);
        continue;
      }
      const { isEstimated, predicted, namespace } = diff;
      // What other webhooks do is not known without a pod.
      if (isEstimated && namespace === this.#namespaces[2]) continue;
      for (const pod of pods) {
        this.compared[isEstimated ? 'estimated' : 'exact'] += 1;
        const expected = comparable(predicted?.[side] as KubernetesObject | undefined, isEstimated);
        const difference = firstDifference(comparable(pod, isEstimated), expected, '');
        if (difference !== undefined) problems.push(`${key}: ${difference}`);
      }
    }
    const without = [...rows].filter(([, diff]) => diff[side].outcome !== 'Refused');
    return [...problems, ...without.map(([key]) => `${key} has no pods`)];
  }

  /** Compares the requests and limits of each row, and of all rows, with what is stored. */
  async otherSums(report: DiffReport, side: Side): Promise<string[]> {
    const stored = await this.#stored(report, side);
    const isCounted = ({ before, after }: WorkloadDiff) => before.outcome !== 'Refused' && after.outcome !== 'Refused';
    const rows = report.workloads.filter(isCounted);
    const sumOf = (some: readonly WorkloadDiff[]) => sums(some.flatMap((diff) => stored.get(workloadKey(diff)) ?? []));
    return [
      ...rows.map((diff) => [workloadKey(diff), sumOf([diff]), diff.resources[side]]),
      ['all', sumOf(rows.filter(({ isEstimated }) => !isEstimated)), report.resources[side]],
      ['estimated', sumOf(rows.filter(({ isEstimated }) => isEstimated)), report.estimatedResources[side]],
    ].flatMap(([key, actual, expected]) => {
      const difference = firstDifference(actual, expected, '');
      return difference === undefined ? [] : [`${key as string}: ${difference}`];
    });
  }

  /** Checks that the API server refuses the pods of refused workloads, with the predicted message. */
  async otherRefusals(report: DiffReport): Promise<string[]> {
    this.#absent = new Set(refusedIn(report));
    const problems: string[] = [];
    for (const { after, ...diff } of report.workloads.filter((each) => this.#absent.has(workloadKey(each)))) {
      const said = await refusal(this.#context.client, podOf(this.#objects.get(workloadKey(diff))!));
      if (said?.includes(after.message) !== true) problems.push(`${workloadKey(diff)}: ${said ?? 'it is not refused'}`);
    }
    return problems;
  }
}

function keyOf({ kind, metadata: { namespace = '', name = '' } }: KubernetesObject): string {
  return workloadKey({ namespace, kind, name });
}

/** Adds up the effective requests and limits of pods, independently of the code under test. */
function sums(pods: readonly Pod[]) {
  const sum = { requests: { cpu: 0, memory: 0 }, limits: { cpu: 0, memory: 0 } };
  for (const { spec } of pods)
    for (const part of ['requests', 'limits'] as const)
      for (const name of ['cpu', 'memory'] as const) {
        const of = ({ resources }: { resources?: unknown }) =>
          amount((resources as Resources | undefined)?.[part]?.[name]);
        const total = (some: readonly object[]) => some.reduce((before: number, each) => before + of(each), 0);
        const inits = spec.initContainers ?? [];
        const isNative = ({ restartPolicy }: { restartPolicy?: string }) => restartPolicy === 'Always';
        const peaks = inits.map((each, at) => of(each) + total(inits.slice(0, at).filter(isNative)));
        const needed = Math.max(total([...spec.containers, ...inits.filter(isNative)]), ...peaks);
        sum[part][name] = Math.round((sum[part][name] + needed) * 1e9) / 1e9;
      }
  return sum;
}

type Resources = Readonly<Partial<Record<'requests' | 'limits', Readonly<Record<string, string>>>>>;

const units: Readonly<Record<string, number>> = { '': 1, m: 1e-3, Mi: 2 ** 20, Gi: 2 ** 30 };

function amount(text = '0'): number {
  const [, number = '0', unit = ''] = /^([\d.]+)(\w*)$/.exec(text) ?? [];
  return Number(number) * (units[unit] ?? NaN);
}

/** The labels that controllers generate. docs/diff.md lists what is generated for each pod. */
const generatedLabels = [
  ...['pod-template-hash', 'controller-revision-hash', 'pod-template-generation', 'controller-uid', 'job-name'],
  ...['batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name', 'apps.kubernetes.io/pod-index'],
  'statefulset.kubernetes.io/pod-name',
];
/** What controllers also set, and what an estimate from the template does not have. */
const setByControllers = ['hostname', 'subdomain', 'tolerations', 'affinity'];

/** Returns a pod without what is generated for each pod. */
function comparable(pod: KubernetesObject | undefined, isEstimated: boolean): unknown {
  const { labels = {}, annotations = {}, generateName, namespace, ownerReferences = [] } = pod?.metadata ?? {};
  const owners = ownerReferences.map(({ kind, name }) => `${kind}/${name}`);
  const generated = owners.join().startsWith('StatefulSet/') ? ['nodeName', 'hostname'] : ['nodeName'];
  const spec = JSON.stringify(
    without({ ...(pod?.spec as object) }, ...(isEstimated ? setByControllers : []), ...generated),
  )
    .replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access')
    // The affinity of a DaemonSet's pod names its node.
    .replaceAll(/("key":"metadata.name","operator":"In","values":\[")[^"]+/g, '$1');
  return {
    labels: without(labels, ...generatedLabels),
    annotations: without(annotations, limitRangerAnnotation),
    ...(isEstimated ? {} : { generateName, owners }),
    namespace,
    spec: JSON.parse(spec) as unknown,
  };
}
