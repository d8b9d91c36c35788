import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import { gateIn } from '../../explain/stored-pod.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { isOurGate, pendingPod } from '../../holding/pending-pod.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isIstioFamily, isIstiosNamespace, istioSelectors } from '../../selection/foreign-overlap.ts';
import { type SelectingWebhook, webhooksSelecting } from '../../selection/selecting-webhook.ts';
import {
  describeJudgement,
  familyMember,
  judgePod,
  missingReason,
  type JudgementSources,
  type PodCounts,
  type PodJudgement,
  type PodState,
  worstState,
} from '../../operator/usage/judge-pod.ts';
import { namedBy, usageKey } from '../../operator/usage/pod-usage.ts';
import { type PodTraits, type RelevantNames, traitsOf } from '../../operator/usage/pod-traits.ts';
import type { Labels } from '../../selection/label-selector.ts';
import { SelectingWebhookReader } from '../../selection/read-selecting-webhooks.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { readConfigurations } from '../check/read-cluster-facts.ts';
import { withCluster, type ClusterOptions } from '../cluster-options.ts';
import { pods as podKind } from '../../operator/cluster-view.ts';
import { plural } from '../report/write-report.ts';
import { configOfRevision, configOfTag, forEachItem, type Installation, readInstallation } from './installation.ts';

/** The pods of one workload and one InjectorConfig. */
export interface WorkloadUsage extends Readonly<PodCounts> {
  readonly namespace: string;
  /** `Deployment/web`. */
  readonly workload: string;
  /** The InjectorConfig that new pods would get, else the InjectorConfig that injected the pods. */
  readonly injectorConfig: string;
  readonly tag?: string;
  /** The InjectorConfig that new pods get; absent if they get none of this family. */
  readonly expected?: string;
  /** Why pods are not current. */
  readonly causes: readonly UsageCause[];
  /** The number of pods by the messages of `causes`, as earlier releases print it. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Why some pods of a workload are not current. */
interface UsageCause {
  /** An identifier such as `OtherConfiguration`. */
  readonly reason: string;
  readonly message: string;
  readonly pods: number;
}

/** Pods that wait for their sidecar (failurePolicy Hold). */
interface HeldPods {
  readonly gate: string;
  readonly pods: number;
  /** The creation time of the first pod, RFC 3339. */
  readonly since: string;
}

/** The pods of the cluster compared with new pods. */
export interface UsageReport {
  /** The pods by the InjectorConfig that injected them, or should have injected them. */
  readonly injectorConfigs: ReadonlyMap<string, Readonly<PodCounts>>;
  /** The pods by the tag that they follow. */
  readonly tags: ReadonlyMap<string, Readonly<PodCounts>>;
  /** The pods by namespace, each pod once: a pod of several families in its worst state. */
  readonly namespaces: ReadonlyMap<string, Readonly<PodCounts>>;
  /** The sorted namespaces whose labels select an object, as `status.namespaces` has them. */
  readonly following: (owner: InjectorConfig | RevisionTag) => string[];
  readonly held: readonly HeldPods[];
  /** The workloads, sorted by namespace and name. */
  readonly workloads: readonly WorkloadUsage[];
}

/** The counted pods of a cluster, with remarks about data that could not be read. */
export interface ReadUsage extends UsageReport {
  /** Reports whether a pod, which need not exist, may be injected when it is created. */
  readonly isInjected: (pod: KubernetesObject) => boolean;
  /** Judges a pod, which need not exist. */
  readonly judge: (pod: KubernetesObject) => readonly PodJudgement[];
  /** Returns the published configuration of a webhook, or why there is none. */
  readonly injectorOf: (webhook: SelectingWebhook) => NamedInjector | { readonly unavailable: string };
  /** The number of pods that another injector injected. */
  readonly others: number;
  /** Remarks for users. */
  readonly notes: readonly string[];
}

/** Reads the installation of a cluster and counts its current, stale and missing pods. */
export function readClusterUsage(options: ClusterOptions): Promise<{ installation: Installation; usage: ReadUsage }> {
  return withCluster(options, async (client) => {
    const installation = await readInstallation(client);
    return { installation, usage: await readUsage(client, installation) };
  });
}

/**
 * Counts the current, stale and missing pods of the cluster or of one namespace. Needs no running
 * operator. If a ConfigMap cannot be read, a note says that its missing pods are not counted.
 * @param visit receives each pod that has not ended
 */
export async function readUsage(
  client: Pick<ApiClient, 'list' | 'listAll' | 'find'>,
  installation: Installation,
  namespace?: string,
  visit?: (pod: KubernetesObject, judgements: readonly PodJudgement[]) => void,
): Promise<ReadUsage> {
  const { configs, tags, configurations, namespaces } = installation;
  const families = configs.map(({ spec }) => spec.webhook.keys);
  const members = new Map(
    configs.map((config) => [config.metadata.name, familyMember(config.spec.webhook.keys, revisionOf(config))]),
  );
  const filesOf = await readConfigurations(client, configurations);
  const { webhooks, injectorOf } = surroundingsOf({ configurations, filesOf });
  const [ownNamespace = ''] = webhooks.flatMap(({ target }) => target?.namespace ?? []);
  const injectorAt = ({ injectorConfig, hash = '' }: SelectingWebhook) =>
    injectorOf({ injectorConfig, hash, namespace: undefined });
  const notes: string[] = [];
  // As `TagTargets.claims` of the operator: a tag without a live webhook gets that of its spec.
  const targetOf = (tag: RevisionTag): InjectorConfig | undefined =>
    [configOfRevision(installation, tag.spec.revision, tag), configOfTag(installation, tag)].find(
      (config) => config !== undefined && config.metadata.deletionTimestamp === undefined,
    );
  const reader = new SelectingWebhookReader(ownNamespace);
  // The reader adds the desired webhook of each owner that has no live webhook.
  const selectingWebhooks = [...reader.read(configurations, { configs, tags, targetOf }).values()];
  for (const webhook of selectingWebhooks) {
    const injector = webhook.hash === undefined ? undefined : injectorAt(webhook);
    if (injector !== undefined && 'unavailable' in injector)
      notes.push(`cannot determine which pods lack the sidecar of ${webhook.id}: ${injector.unavailable}`);
  }
  const rulesOf = (webhook: SelectingWebhook): DecisionRules | undefined => {
    const injector = injectorAt(webhook);
    return 'rules' in injector ? injector.rules : undefined;
  };
  const tally = createUsageTally(
    { webhooks: selectingWebhooks, familyOf: (name) => members.get(name), rulesOf },
    {
      annotations: new Set(families.map(({ inject }) => inject)),
      statuses: new Set(families.map(({ status }) => status)),
    },
  );
  const labelsOf = ({ metadata: { namespace: own = '' } }: KubernetesObject): Labels => namespaces.get(own) ?? {};
  const byGate = new Map<string, HeldPods>();
  let others = 0;
  await forEachItem(client, podKind, { namespace }, (pod) => {
    const judgements = tally.add(pod, labelsOf(pod));
    if (judgements === undefined) return;
    countHeld(byGate, pod);
    others += judgements.filter(({ reason }) => reason === 'OtherInjector').length;
    visit?.(pod, judgements);
  });
  const held = [...byGate.values()];
  for (const { gate, pods, since } of held) {
    const wait = `${plural(pods, 'pod')} with scheduling gate ${gate}, the first since ${since}`;
    notes.push(
      `${wait}: held until the webhook works (failurePolicy Hold); \`injector release --all\` lets all held pods of the cluster start without their sidecar`,
    );
  }
  const judge = (pod: KubernetesObject) => tally.judge(pod, labelsOf(pod))?.judgements ?? [];
  const isInjected = (pod: KubernetesObject): boolean =>
    judge(pod).some(({ state }) => state === 'missing' || state === 'undecided');
  const namedInjector: ReadUsage['injectorOf'] = (webhook) => {
    const { injectorConfig: name, hash } = webhook;
    if (hash === undefined) return { unavailable: `InjectorConfig ${name} has no published webhook` };
    const injector = injectorAt(webhook);
    return 'unavailable' in injector ? injector : { name, hash, injector };
  };
  const istios = istioSelectors(configurations);
  const following = ({ kind, metadata }: InjectorConfig | RevisionTag): string[] => {
    const selects = (labels: Labels) => (webhook: SelectingWebhook) =>
      !(isIstioFamily(webhook) && isIstiosNamespace(labels, istios)) &&
      namedBy(webhook).includes(usageKey(kind, metadata.name)) &&
      webhook.selectors.some((each) => each.isByNamespace && each.namespace(labels));
    return [...namespaces].flatMap(([name, labels]) => (selectingWebhooks.some(selects(labels)) ? [name] : [])).sort();
  };
  return { ...tally.report(), following, held, isInjected, judge, injectorOf: namedInjector, others, notes };
}

/** Counts a pod that failurePolicy Hold holds, as the operator does. */
function countHeld(byGate: Map<string, HeldPods>, pod: KubernetesObject): void {
  const { creationTimestamp = '' } = pod.metadata;
  for (const gate of pendingPod(pod).held?.gates.filter(isOurGate) ?? []) {
    const { pods, since } = byGate.get(gate) ?? { pods: 0, since: creationTimestamp };
    byGate.set(gate, { gate, pods: pods + 1, since: creationTimestamp < since ? creationTimestamp : since });
  }
}

/** Returns why a pod lacks the sidecar of a webhook. */
type WhyMissing = (selectedBy: SelectingWebhook | undefined) => string;

type WorkloadTally = Omit<WorkloadUsage, keyof PodCounts | 'causes' | 'reasons'> &
  PodCounts & { readonly causes: Map<string, UsageCause> };

export const noCounts: Readonly<PodCounts> = { current: 0, stale: 0, missing: 0 };

/**
 * Counts pods one by one, so that pages are not kept. Classifies pods as the operator does.
 * @param names the annotations that affect the result
 */
function createUsageTally(
  sources: JudgementSources & { readonly webhooks: readonly SelectingWebhook[] },
  names: Pick<RelevantNames, 'annotations' | 'statuses'>,
) {
  const injectorConfigs = new Map<string, PodCounts>();
  const tags = new Map<string, PodCounts>();
  const namespaces = new Map<string, PodCounts>();
  const workloads = new Map<string, WorkloadTally>();

  /** Judges a pod, which need not exist; undefined for a pod that has ended. */
  function judge(pod: KubernetesObject, namespaceLabels: Labels) {
    const labels = new Set(Object.keys(pod.metadata.labels ?? {}));
    const traits = traitsOf(pod, { labels, ...names });
    const selecting = traits && webhooksSelecting(sources.webhooks, namespaceLabels, traits.labels);
    return traits && selecting && { traits, judgements: judgePod(traits, selecting, sources) };
  }

  /** Adds a pod. @returns its judgements; undefined for a pod that has ended */
  function add(pod: KubernetesObject, namespaceLabels: Labels): readonly PodJudgement[] | undefined {
    const judged = judge(pod, namespaceLabels);
    if (judged === undefined) return undefined;
    const { traits, judgements } = judged;
    const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
    const whyMissing: WhyMissing = (by) => (gateIn(pod) === undefined ? missingReason(createdAt, by) : 'Held');
    for (const judgement of judgements) {
      const { state } = judgement;
      if (state !== 'none' && state !== 'undecided') count(traits, whyMissing, judgement, state);
    }
    const worst = worstState(judgements);
    if (worst !== undefined) tallyOf(namespaces, traits.namespace)[worst] += 1;
    return judgements;
  }

  function report(): Omit<UsageReport, 'following' | 'held'> {
    const sorted = [...workloads].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, tally]) => tally);
    const described = sorted.map(({ causes, ...tally }): WorkloadUsage => {
      const reasons = Object.fromEntries([...causes.values()].map(({ message, pods }) => [message, pods]));
      return { ...tally, causes: [...causes.values()], reasons };
    });
    return { injectorConfigs, tags, namespaces, workloads: described };
  }

  function count(pod: PodTraits, whyMissing: WhyMissing, judgement: PodJudgement, state: PodState): void {
    const { injectorConfig, selectedBy } = judgement;
    tallyOf(injectorConfigs, injectorConfig)[state] += 1;
    if (selectedBy?.tag !== undefined) tallyOf(tags, selectedBy.tag)[state] += 1;
    const workload = workloadOf(pod, injectorConfig, selectedBy);
    workload[state] += 1;
    if (state === 'current') return;
    const why = state === 'missing' ? { ...judgement, reason: whyMissing(selectedBy) } : judgement;
    const message = describeJudgement(why);
    const { pods } = workload.causes.get(message) ?? { pods: 0 };
    workload.causes.set(message, { reason: why.reason, message, pods: pods + 1 });
  }

  function workloadOf({ namespace, workload }: PodTraits, injector: string, by?: SelectingWebhook): WorkloadTally {
    const named = `${workload.kind}/${workload.name}`;
    const { injectorConfig = injector, hash, tag } = by ?? {};
    const key = [namespace, named, injectorConfig, tag ?? '', hash ?? ''].join(' ');
    const known = workloads.get(key);
    if (known !== undefined) return known;
    const expected = hash === undefined ? {} : { expected: injectorConfig };
    const identity = { namespace, workload: named, injectorConfig, ...expected, ...(tag === undefined ? {} : { tag }) };
    const added = { ...identity, ...noCounts, causes: new Map<string, UsageCause>() };
    workloads.set(key, added);
    return added;
  }

  return { add, judge, report };
}

function tallyOf(tallies: Map<string, PodCounts>, key: string): PodCounts {
  const known = tallies.get(key) ?? { ...noCounts };
  tallies.set(key, known);
  return known;
}
