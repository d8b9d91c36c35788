import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config.ts';

/**
 * The InjectorConfig to which this one must yield, if any: of those that would take the same pods, the oldest stays, then the first by name.
 * Pods are told apart by the labels of a family (`spec.webhook.keys`), so only members of one family can meet; within it they do when they are
 * the same revision, or have the same selectors of their own.
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
  if (webhook.selection !== others.selection || !isDeepStrictEqual(webhook.keys, others.keys)) return false;
  if (webhook.selection === 'Revision') return revisionOf(one) === revisionOf(other);
  const { namespaceSelector, objectSelector } = webhook;
  return isDeepStrictEqual(
    { namespaceSelector, objectSelector },
    { namespaceSelector: others.namespaceSelector, objectSelector: others.objectSelector },
  );
}

function isBefore(one: InjectorConfig, other: InjectorConfig): boolean {
  const [first = '', second = ''] = [one.metadata.creationTimestamp, other.metadata.creationTimestamp];
  return first === second ? one.metadata.name < other.metadata.name : first < second;
}
