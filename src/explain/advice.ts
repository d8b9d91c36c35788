import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { explainCreation, type CreationFinding, type ExplanationInputs } from './explain-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import type { WebhookTarget } from './pod-webhook.ts';

/** A user's change. The value null removes a label or annotation; `hostNetwork` becomes false. */
export type Change =
  | { readonly of: 'Namespace' | 'Pod'; readonly field: 'label'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'annotation'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'hostNetwork' };

export function withChanges(creation: PodCreation, changes: readonly Change[]): PodCreation {
  return changes.reduce(withChange, creation);
}

function withChange(creation: PodCreation, change: Change): PodCreation {
  const { namespace, pod } = creation;
  if (change.of === 'Namespace') {
    const labels = edited(namespace.labels, change) as Record<string, string>;
    return { ...creation, namespace: { ...namespace, labels } };
  }
  if (change.field === 'hostNetwork')
    return { ...creation, pod: { ...pod, spec: { ...objectAt(pod, ['spec']), hostNetwork: false } } };
  const part = `${change.field}s`;
  const after = edited(objectAt(pod, ['metadata', part]), change);
  return { ...creation, pod: { ...pod, metadata: { ...objectAt(pod, ['metadata']), [part]: after } } };
}

function edited(map: JsonObject, { key, value }: { readonly key: string; readonly value: string | null }): JsonObject {
  const others = Object.entries(map).filter(([name]) => name !== key);
  return Object.fromEntries(value === null ? others : [...others, [key, value]]);
}

/** Returns changes that meet the requirements; undefined if no change can meet them. */
export function changesToMeet(
  kind: 'Namespace' | 'Pod',
  unmet: readonly LabelSelectorRequirement[],
): Change[] | undefined {
  const changes: Change[] = [];
  for (const { key, operator, values = [] } of unmet) {
    // The name of a namespace cannot change.
    if (key === namespaceNameLabel) return undefined;
    const value = operator === 'In' ? (values[0] ?? null) : operator === 'Exists' ? 'true' : null;
    changes.push({ of: kind, field: 'label', key, value });
  }
  return changes;
}

/** Changes and their effect, verified by explaining the changed creation. */
export interface Advice {
  readonly changes: readonly Change[];
  readonly outcome: 'Injected' | 'NotInjected';
  readonly injectedBy: readonly string[];
}

/** The maximum number of results. Results with the fewest changes come first. */
const limit = 4;

/**
 * Finds changes that reverse the outcome, that is, cause an injection or prevent it. Tries each set
 * of changes on the creation and returns only the sets that work.
 * @param fixes corrections of mistyped labels; these are tried first
 */
export function adviseOn(
  creation: PodCreation,
  inputs: ExplanationInputs,
  finding: CreationFinding,
  fixes: Change[] = [],
) {
  const candidates = candidatesFor(creation, inputs, finding).sort((one, other) => one.length - other.length);
  const found: Advice[] = [];
  const known = new Map<string, number>();
  for (const changes of [fixes, ...candidates].filter(({ length }) => length > 0)) {
    const { outcome, injectedBy } = explainCreation(withChanges(creation, changes), inputs);
    if ((outcome !== 'Injected' && outcome !== 'NotInjected') || outcome === finding.outcome) continue;
    const result = [outcome, ...injectedBy].join(' ');
    // For each set of changed objects, keep the result with the fewest changes.
    const way = [result, ...new Set(changes.map((change) => change.of))].join(' ');
    const fewest = known.get(result) ?? changes.length;
    if (known.has(way) || changes.length > fewest) continue;
    known.set(result, fewest).set(way, changes.length);
    found.push({ changes, outcome, injectedBy });
    if (found.length === limit) break;
  }
  return found;
}

function candidatesFor(creation: PodCreation, surroundings: ExplanationInputs, finding: CreationFinding): Change[][] {
  switch (finding.outcome) {
    case 'Injected':
      return waysOut(surroundings, finding);
    case 'NotInjected':
      return waysIn(creation, surroundings, finding);
    case 'Refused':
      // An opt-out also admits the pod, without a sidecar.
      return [...waysAroundRefusal(creation, finding), ...waysOut(surroundings, finding)];
    case 'Unknown':
      return [];
  }
}

/** Returns changes that make our webhooks select the pod and override an opt-out or the policy. */
function waysIn(creation: PodCreation, surroundings: ExplanationInputs, finding: CreationFinding): Change[][] {
  const usesHostNetwork = objectAt(creation.pod, ['spec']).hostNetwork === true;
  const hostNetwork: Change[] = usesHostNetwork ? [{ of: 'Pod', field: 'hostNetwork' }] : [];
  // Try the best-known labels first: those of the default revision.
  const byFamiliarity = [...finding.webhooks].sort((one, other) => familiarity(other) - familiarity(one));
  return byFamiliarity.flatMap(({ target, unmet }): Change[][] => {
    const namespace = changesToMeet('Namespace', unmet.namespace);
    const pod = changesToMeet('Pod', unmet.pod);
    const keys = keysOf(surroundings, target);
    if (namespace === undefined || pod === undefined || keys === undefined) return [];
    const selected = [...namespace, ...pod, ...hostNetwork];
    const otherChanges = selected.filter(
      (change) => !(change.field === 'label' && change.of === 'Pod' && change.key === keys.inject),
    );
    return [
      selected,
      [...otherChanges, { of: 'Pod', field: 'label', key: keys.inject, value: 'true' }],
      [...otherChanges, { of: 'Pod', field: 'annotation', key: keys.inject, value: null }],
    ];
  });
}

function familiarity({ webhook }: CreationFinding['webhooks'][number]): number {
  return /^(?:namespace|object)\./.test(webhook) ? 1 : 0;
}

/** Returns changes that opt out with a label of the pod or of the namespace. */
function waysOut(surroundings: ExplanationInputs, finding: CreationFinding): Change[][] {
  return finding.webhooks.flatMap(({ target, outcome }): Change[][] => {
    const keys = keysOf(surroundings, target);
    if (keys === undefined || (outcome !== 'Injected' && outcome !== 'Refused')) return [];
    return [
      [{ of: 'Pod', field: 'label', key: keys.inject, value: 'false' }],
      [{ of: 'Namespace', field: 'label', key: keys.injection, value: 'disabled' }],
    ];
  });
}

/** Returns a removal for each annotation in the message, or else for each annotation of the pod. */
function waysAroundRefusal({ pod }: PodCreation, { message }: CreationFinding): Change[][] {
  const annotations = Object.keys(objectAt(pod, ['metadata', 'annotations']));
  const named = annotations.filter((key) => message.includes(key));
  return (named.length > 0 ? named : annotations).map((key) => [{ of: 'Pod', field: 'annotation', key, value: null }]);
}

function keysOf({ injectorOf }: ExplanationInputs, target: WebhookTarget | undefined): WebhookKeys | undefined {
  const injector = target && injectorOf(target);
  return injector === undefined || 'unavailable' in injector ? undefined : injector.settings.keys;
}
