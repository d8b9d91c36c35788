import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { ApiError } from '../../kube/api-error.ts';
import { lostFields } from './lost-fields.ts';
import { plainPod, type TortureCase, tortureCases } from './torture-cases.ts';

/** What became of one pod of the suite. */
export interface TortureResult {
  readonly case: string;
  readonly about: string;
  /** `NotApplicable`: this API server refuses the pod even without the injector. */
  readonly result: 'Passed' | 'Failed' | 'NotApplicable';
  readonly injected: boolean;
  /** The longest time that the API server took, in milliseconds, with all its webhooks. */
  readonly milliseconds: number;
  readonly problems: readonly string[];
}

/** The report of a run. */
export interface TortureReport {
  readonly webhookConfiguration: string;
  readonly webhook: string;
  /** When the run ended (RFC 3339). */
  readonly time: string;
  readonly configurationProblems: readonly string[];
  readonly results: readonly TortureResult[];
}

/** Creates pods as dry runs. */
export interface TortureCluster {
  /** In the namespace that the webhook selects. @throws ApiError if the pod is refused */
  readonly injected: (pod: JsonObject) => Promise<JsonObject>;
  /** In a namespace that the webhook does not select. @throws ApiError if the pod is refused */
  readonly bare: (pod: JsonObject) => Promise<JsonObject>;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Runs the suite, one pod after another. Each pod is created twice: as its author would, and once
 * more as the injector has made it.
 * @param timeoutSeconds the deadline of the webhook; an answer that takes half of it is a problem
 */
export async function runTorture(
  cluster: TortureCluster,
  timeoutSeconds: number,
  onResult: (result: TortureResult) => void,
): Promise<TortureResult[]> {
  const results: TortureResult[] = [];
  for (const each of tortureCases(await sidecarName(cluster))) {
    const result = await tortured(each, cluster, timeoutSeconds * 500);
    results.push(result);
    onResult(result);
  }
  return results;
}

/** Returns the name of a container that the injector adds to a plain pod; `sidecar` if none. */
async function sidecarName({ injected, bare }: TortureCluster): Promise<string> {
  const [own, answer] = [await answerTo(() => bare(plainPod.pod)), await answerTo(() => injected(plainPod.pod))];
  if ('refused' in own || 'refused' in answer) return 'sidecar';
  return addedContainers(own.pod, answer.pod).at(-1) ?? 'sidecar';
}

async function tortured(each: TortureCase, cluster: TortureCluster, slowMs: number): Promise<TortureResult> {
  const { name, about, pod } = each;
  const found = { case: name, about, injected: false, milliseconds: 0, problems: [] };
  const own = await answerTo(() => cluster.bare(pod));
  if ('refused' in own) return { ...found, result: 'NotApplicable', problems: [own.refused] };
  const began = cluster.now();
  const answer = await answerTo(() => cluster.injected(pod));
  const milliseconds = Math.round(cluster.now() - began);
  if ('refused' in answer)
    return { ...found, milliseconds, result: 'Failed', problems: [`it is refused: ${answer.refused}`] };
  const lost = lostFields(authored(own.pod), authored(answer.pod)).map((path) => `${path} is lost or changed`);
  const slow = milliseconds > slowMs ? [`the answer took ${milliseconds} ms, more than half of the deadline`] : [];
  const injected = addedContainers(own.pod, answer.pod).length > 0;
  const missed = name === plainPod.name && !injected ? ['it gets no container'] : [];
  const again = await secondPass(answer.pod, cluster);
  const problems = [...missed, ...slow, ...shortened(lost), ...shortened(again)];
  return { ...found, injected, milliseconds, problems, result: problems.length === 0 ? 'Passed' : 'Failed' };
}

/** A pod may have hundreds of containers with the same problem. */
const mostProblems = 5;

function shortened(problems: readonly string[]): string[] {
  const more = problems.length - mostProblems;
  return [...problems.slice(0, mostProblems), ...(more > 0 ? [`and ${more} more of this kind`] : [])];
}

/** Creates an injected pod again, as a restored backup or another controller would. */
async function secondPass(first: JsonObject, cluster: TortureCluster): Promise<string[]> {
  const again = await answerTo(() => cluster.injected(authored(first)));
  if ('refused' in again) return [`the injected pod is refused when it is created again: ${again.refused}`];
  const [one, other] = [authored(first), authored(again.pod)];
  const changes = [...new Set([...lostFields(one, other), ...lostFields(other, one)])];
  return changes.map((path) => `a second pass changes ${path}`);
}

async function answerTo(
  create: () => Promise<JsonObject>,
): Promise<{ readonly pod: JsonObject } | { readonly refused: string }> {
  try {
    return { pod: await create() };
  } catch (error) {
    if (error instanceof ApiError && error.code !== 0) return { refused: error.message };
    throw error;
  }
}

/** Returns what an author or an injector has written, without the API server's metadata. */
function authored(pod: JsonObject): JsonObject {
  const { name, generateName, labels, annotations, ownerReferences } = pod['metadata'] as Record<string, unknown>;
  const named = generateName === undefined ? { name } : { generateName };
  // An absent and an empty map are the same.
  const kept = Object.entries({ ...named, labels, annotations, ownerReferences }).filter(
    ([, value]) => value !== undefined && Object.keys(value as object).length > 0,
  );
  return { metadata: Object.fromEntries(kept), spec: pod['spec'] };
}

function addedContainers(before: JsonObject, after: JsonObject): string[] {
  const names = (pod: JsonObject): string[] => {
    const { initContainers = [], containers = [] } = pod['spec'] as Record<string, KubernetesObject[] | undefined>;
    return [...initContainers, ...containers].filter(isJsonObject).map(({ name }) => String(name));
  };
  const own = new Set(names(before));
  return names(after).filter((name) => !own.has(name));
}
