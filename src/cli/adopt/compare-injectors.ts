import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import { podChanges, type PodChange } from '../../explain/pod-changes.ts';
import { addResources, noResources, podResources } from '../../explain/pod-resources.ts';
import type { PodWebhook, WebhookTarget } from '../../explain/pod-webhook.ts';
import {
  asAdmitted,
  isGenerated,
  type NamedInjector,
  type PredictedPod,
  predictPod,
} from '../../explain/predict-pod.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import { chooseWebhook } from '../../explain/webhook-choice.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { without } from '../../inject/pod/without.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { RolloutWorkload } from '../../routing/workload-key.ts';
import { creationOf } from '../../explain/files/facts.ts';
import { contextIn, type CreationFacts, noSums } from '../diff/compare.ts';
import type { InjectionOutcome, WorkloadDiff } from '../diff/diff-report.ts';

/** The inputs of a comparison of Istio's injector with ours, apart from the pod. */
export interface InjectorFacts extends CreationFacts {
  /** The webhooks of Istio's injector, and ours. */
  readonly theirs: readonly PodWebhook[];
  readonly ours: readonly PodWebhook[];
  readonly injectorOf: (target: WebhookTarget) => NamedInjector | { readonly unavailable: string };
  /** Creates a pod as a dry run, and returns what the API server would store. */
  readonly create: (pod: KubernetesObject) => Promise<JsonObject>;
}

/** A pod as its controller would create it. */
export interface BarePod {
  /** The pod with a generated name, as a dry run creates it beside the live pod. */
  readonly pod: JsonObject;
  /** The pod with the live pod's name. */
  readonly named: JsonObject;
  /** The webhook of Istio's injector that selects the pod. */
  readonly theirs: PodWebhook | undefined;
  /** The target of our webhook that selects the pod. */
  readonly ours: WebhookTarget | undefined;
}

/** Removes the injection from a live pod. Undefined if neither injector's webhooks select it. */
export function barePodOf(
  stored: KubernetesObject,
  { namespace }: Pick<RolloutWorkload, 'namespace'>,
  facts: Omit<InjectorFacts, 'create'>,
): BarePod | undefined {
  const admitted = asAdmitted(stored);
  const { pod: guessed } = uninjectPod(admitted);
  const creation = creationOf({ namespace, pod: guessed }, facts.namespaces);
  const selects = ({ webhook }: PodWebhook): boolean => chooseWebhook(webhook, creation, creation.pod).called === 'Yes';
  const [theirs, ours] = [facts.theirs.find(selects), facts.ours.find(selects)?.target];
  if (theirs === undefined && ours === undefined) return undefined;
  const injector = ours && facts.injectorOf(ours);
  // With its configuration, the removal is exact.
  const by = injector && !('unavailable' in injector) ? injector : undefined;
  const { request } = contextIn(namespace, facts);
  const { pod: named } =
    by === undefined ? { pod: guessed } : uninjectPod(admitted, { injector: by.injector, request });
  return { pod: withGeneratedName(named), named, theirs, ours };
}

/** The result for one workload. */
type Result =
  | { readonly result: 'Compared'; readonly diff: WorkloadDiff; readonly isStale: boolean }
  /** `Moved`: our injector has answered instead of Istio's. */
  | { readonly result: 'Moved' }
  | { readonly result: 'NotCompared'; readonly message: string };

/**
 * Compares what Istio's injector and ours do with a new pod of a workload. Istio's injector answers
 * a dry run, so defaults and other webhooks are included. Undefined if no injector concerns it.
 * @param stored the newest pod of the workload
 */
export async function compareInjectors(
  stored: KubernetesObject,
  workload: RolloutWorkload & { readonly pods: number },
  facts: InjectorFacts,
): Promise<Result | undefined> {
  const bare = barePodOf(stored, workload, facts);
  if (bare === undefined) return undefined;
  const injector = bare.ours && facts.injectorOf(bare.ours);
  if (injector !== undefined && 'unavailable' in injector)
    return { result: 'NotCompared', message: injector.unavailable };
  try {
    const answer = await facts.create(bare.pod as unknown as KubernetesObject);
    if (isByOurs(answer)) return { result: 'Moved' };
    return await compareAnswer(stored, answer, bare, injector, workload, facts);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { result: 'NotCompared', message: `the API server refuses its new pod as a dry run: ${error.message}` };
  }
}

async function compareAnswer(
  stored: KubernetesObject,
  answer: JsonObject,
  bare: BarePod,
  injector: NamedInjector | undefined,
  workload: RolloutWorkload & { readonly pods: number },
  facts: InjectorFacts,
): Promise<Result> {
  const { namespace, kind, name, pods } = workload;
  const context = contextIn(namespace, facts);
  const predict = (pod: JsonObject): PredictedPod =>
    injector === undefined ? notSelected(pod) : predictPod(pod, injector, context);
  const after = predict(bare.pod);
  let changes = after.pod === undefined ? [] : differences(answer, after.pod);
  const changedByOthers: string[] = [];
  if (after.outcome === 'Injected' && changes.length > 0) {
    // Other webhooks may have changed the sidecar. Let them answer for our pod, too.
    const ours = await facts.create(
      withLabel(after.pod ?? {}, istioKeys.inject, 'false') as unknown as KubernetesObject,
    );
    const label = objectAt(bare.pod, ['metadata', 'labels'])[istioKeys.inject];
    const answered = differences(answer, withLabel(ours, istioKeys.inject, label));
    if (answered.length < changes.length) {
      const left = new Set(answered.map(({ path }) => path));
      changedByOthers.push(...changes.map(({ path }) => path).filter((path) => !left.has(path)));
      changes = answered;
    }
  }
  const live = asAdmitted(stored);
  const isLive = (pod: JsonObject | undefined): boolean => pod !== undefined && differences(live, pod).length === 0;
  const isNamed = live.metadata !== undefined && objectAt(live, ['metadata']).generateName === undefined;
  const expected = isNamed ? withMetadata(answer, namesOf(live)) : answer;
  // The name of a pod without a controller is in its sidecar, and the dry run needs another.
  const isStale = !isLive(expected) && !(isNamed && isLive(predict(bare.named).pod));
  const resourcesOf = (pod: JsonObject) => addResources(noResources, podResources(pod), pods);
  const diff: WorkloadDiff = {
    ...{ namespace, kind, name, pods },
    before: outcomeByIstio(answer, bare.theirs),
    after: outcomeOf(after, injector),
    changes,
    isEstimated: false,
    changedByOthers,
    notes: isStale ? ['stale under Istio: a new pod would differ from its newest pod, whichever injector answers'] : [],
    resources: after.pod === undefined ? noSums : { before: resourcesOf(answer), after: resourcesOf(after.pod) },
  };
  return { result: 'Compared', diff, isStale };
}

/** Compares two pods, apart from what the API server generates and our record. */
export function differences(one: JsonObject, other: JsonObject): PodChange[] {
  const record = `metadata.annotations["${injectedByAnnotation}"]`;
  return podChanges(asAdmitted(one), asAdmitted(other), (path) => path === record || isGenerated(path));
}

/** Reports whether one of our webhooks injected a pod. */
export function isByOurs(pod: JsonObject): boolean {
  return Object.hasOwn(objectAt(pod, ['metadata', 'annotations']), injectedByAnnotation);
}

/** Reports whether a pod has the annotation that both injectors write. */
export function hasStatus(pod: JsonObject): boolean {
  return Object.hasOwn(objectAt(pod, ['metadata', 'annotations']), istioKeys.status);
}

function notSelected(pod: JsonObject): PredictedPod {
  return { outcome: 'NotInjected', reason: 'NotSelected', message: 'no webhook of ours selects the pod', pod };
}

function outcomeByIstio(answer: JsonObject, theirs: PodWebhook | undefined): InjectionOutcome {
  const configuration = theirs?.webhookConfiguration ?? '';
  return hasStatus(answer)
    ? { outcome: 'Injected', configuration, reason: 'Injected', message: "Istio's injector injects it" }
    : { outcome: 'NotInjected', configuration, reason: 'NotInjected', message: "Istio's injector does not inject it" };
}

function outcomeOf({ outcome, reason, message }: PredictedPod, injector: NamedInjector | undefined): InjectionOutcome {
  return { outcome, reason, message, configuration: injector === undefined ? '' : `${injector.name}.${injector.hash}` };
}

function withGeneratedName(pod: JsonObject): JsonObject {
  const { name, generateName = `${String(name)}-` } = objectAt(pod, ['metadata']);
  return withMetadata(pod, { name: undefined, generateName });
}

function namesOf(pod: JsonObject): JsonObject {
  const { name, generateName } = objectAt(pod, ['metadata']);
  return { name, generateName };
}

/** Sets members of metadata; undefined removes a member. */
function withMetadata(pod: JsonObject, members: JsonObject): JsonObject {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  const kept = without(objectAt(pod, ['metadata']), ...Object.keys(members));
  return { ...pod, metadata: { ...kept, ...Object.fromEntries(present) } };
}

/** Sets a label; undefined removes it. */
function withLabel(pod: JsonObject, key: string, value: unknown): JsonObject {
  const labels = without(objectAt(pod, ['metadata', 'labels']), key);
  return withMetadata(pod, { labels: value === undefined ? labels : { ...labels, [key]: value } });
}
