import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { changesToMeet, withChanges, type Change } from './changes.ts';
import { explainCreation, type CreationFinding, type Surroundings } from './explain-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import type { WebhookTarget } from './pod-webhook.ts';

/** What to change, and what would become of the pod then: found by asking again, never guessed. */
export interface Advice {
  readonly changes: readonly Change[];
  readonly outcome: 'Injected' | 'NotInjected';
  readonly injectedBy: readonly string[];
}

/** So many are given, those with the fewest changes first. */
const limit = 4;

/**
 * What would turn the answer round: a pod that is injected would not be, one that is not injected or is refused would be. Each is tried on the
 * same creation; only what works is given.
 * @param meant what mistyped labels were probably meant to be, which comes first
 */
export function adviseOn(creation: PodCreation, around: Surroundings, finding: CreationFinding, meant: Change[] = []) {
  const candidates = candidatesFor(creation, around, finding).sort((one, other) => one.length - other.length);
  const found: Advice[] = [];
  const known = new Map<string, number>();
  for (const changes of [meant, ...candidates].filter(({ length }) => length > 0)) {
    const { outcome, injectedBy } = explainCreation(withChanges(creation, changes), around);
    if ((outcome !== 'Injected' && outcome !== 'NotInjected') || outcome === finding.outcome) continue;
    const result = [outcome, ...injectedBy].join(' ');
    // One way each by the namespace and by the pod, and none that takes more changes than another.
    const way = [result, ...new Set(changes.map((change) => change.of))].join(' ');
    const fewest = known.get(result) ?? changes.length;
    if (known.has(way) || changes.length > fewest) continue;
    known.set(result, fewest).set(way, changes.length);
    found.push({ changes, outcome, injectedBy });
    if (found.length === limit) break;
  }
  return found;
}

function candidatesFor(creation: PodCreation, surroundings: Surroundings, finding: CreationFinding): Change[][] {
  switch (finding.outcome) {
    case 'Injected':
      return waysOut(surroundings, finding);
    case 'NotInjected':
      return waysIn(creation, surroundings, finding);
    case 'Refused':
      // It can also be let through without a sidecar.
      return [...waysAroundRefusal(creation, finding), ...waysOut(surroundings, finding)];
    case 'Unknown':
      return [];
  }
}

/** To be selected by each of our webhooks in turn, and to overrule what the pod or the policy says then. */
function waysIn(creation: PodCreation, surroundings: Surroundings, finding: CreationFinding): Change[][] {
  const usesHostNetwork = objectAt(creation.pod, ['spec']).hostNetwork === true;
  const hostNetwork: Change[] = usesHostNetwork ? [{ of: 'Pod', field: 'hostNetwork' }] : [];
  // What people know best first: the labels of the default.
  const byFame = [...finding.webhooks].sort((one, other) => fame(other) - fame(one));
  return byFame.flatMap(({ target, unmet }): Change[][] => {
    const namespace = changesToMeet('Namespace', unmet.namespace);
    const pod = changesToMeet('Pod', unmet.pod);
    const keys = keysOf(surroundings, target);
    if (namespace === undefined || pod === undefined || keys === undefined) return [];
    const selected = [...namespace, ...pod, ...hostNetwork];
    const own = selected.filter(
      (change) => !(change.field === 'label' && change.of === 'Pod' && change.key === keys.inject),
    );
    return [
      selected,
      [...own, { of: 'Pod', field: 'label', key: keys.inject, value: 'true' }],
      [...own, { of: 'Pod', field: 'annotation', key: keys.inject, value: null }],
    ];
  });
}

function fame({ webhook }: CreationFinding['webhooks'][number]): number {
  return /^(?:namespace|object)\./.test(webhook) ? 1 : 0;
}

/** The pod's own say, or its namespace's. */
function waysOut(surroundings: Surroundings, finding: CreationFinding): Change[][] {
  return finding.webhooks.flatMap(({ target, outcome }): Change[][] => {
    const keys = keysOf(surroundings, target);
    if (keys === undefined || (outcome !== 'Injected' && outcome !== 'Refused')) return [];
    return [
      [{ of: 'Pod', field: 'label', key: keys.inject, value: 'false' }],
      [{ of: 'Namespace', field: 'label', key: keys.injection, value: 'disabled' }],
    ];
  });
}

/** Without one of the annotations that the author has written. */
function waysAroundRefusal({ pod }: PodCreation, { message }: CreationFinding): Change[][] {
  const annotations = Object.keys(objectAt(pod, ['metadata', 'annotations']));
  const named = annotations.filter((key) => message.includes(key));
  return (named.length > 0 ? named : annotations).map((key) => [{ of: 'Pod', field: 'annotation', key, value: null }]);
}

function keysOf({ injectorOf }: Surroundings, target: WebhookTarget | undefined): WebhookKeys | undefined {
  const injector = target && injectorOf(target);
  return injector === undefined || 'unavailable' in injector ? undefined : injector.settings.keys;
}
