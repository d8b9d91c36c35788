import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config.ts';
import { webhookSelectors } from '../manifests/webhook-selectors.ts';
import { areDisjoint } from './disjoint-selectors.ts';

/**
 * The InjectorConfig to which this one must yield, if any: of those that would take the same pods, the oldest stays, then the first by name.
 * Pods are told apart by the labels of a family (`spec.webhook.keys`), so only members of one family can meet; within it they do when they are
 * the same revision, or when one has selectors of its own that some pod could match together with the other's.
 */
export function overlapWinner(config: InjectorConfig, others: readonly InjectorConfig[]): InjectorConfig | undefined {
  return others
    .filter((other) => other.metadata.name !== config.metadata.name && other.metadata.deletionTimestamp === undefined)
    .filter((other) => wouldMeet(config, other) && isBefore(other, config))
    .sort((one, other) => (isBefore(one, other) ? -1 : 1))[0];
}

function wouldMeet(one: InjectorConfig, other: InjectorConfig): boolean {
  const { webhook } = one.spec;
  const { webhook: others } = other.spec;
  if (one.spec.operatorClass !== other.spec.operatorClass) return false;
  if (!isDeepStrictEqual(webhook.keys, others.keys)) return false;
  if (webhook.selection === 'Revision' && others.selection === 'Revision') return revisionOf(one) === revisionOf(other);
  return webhookSelectors(one, webhook.excludedNamespaces).some((mine) =>
    webhookSelectors(other, others.excludedNamespaces).some(
      (theirs) =>
        !areDisjoint(mine.namespaceSelector, theirs.namespaceSelector) &&
        !areDisjoint(mine.objectSelector, theirs.objectSelector),
    ),
  );
}

function isBefore(one: InjectorConfig, other: InjectorConfig): boolean {
  const [first = '', second = ''] = [one.metadata.creationTimestamp, other.metadata.creationTimestamp];
  return first === second ? one.metadata.name < other.metadata.name : first < second;
}
