import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config.ts';
import type { ObjectMeta } from '../api/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag.ts';
import type { WebhookKeys } from '../api/webhook-keys.ts';
import { areDisjoint } from './disjoint-selectors.ts';
import { tagSelectors, webhookSelectors, type WebhookSelectors } from './webhook-selectors.ts';

/** Who wants pods: an InjectorConfig, or a RevisionTag together with the InjectorConfig that it leads to. */
export interface Claimant {
  readonly kind: 'InjectorConfig' | 'RevisionTag';
  readonly name: string;
  /** The value of the revision label that it answers to. */
  readonly revision: string;
  readonly operatorClass: string;
  /** The labels of its family; pods of different families never meet. */
  readonly keys: WebhookKeys;
  /** Whether its selectors are its own, and not those that follow from its revision. */
  readonly isCustom: boolean;
  readonly selectors: readonly WebhookSelectors[];
  /** RFC 3339. */
  readonly createdAt: string;
}

/** What an InjectorConfig wants never changes while the object does not, and is asked for with every pass over any other. */
const known = new WeakMap<InjectorConfig, Claimant>();

export function claimantOfConfig(config: InjectorConfig): Claimant {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { webhook, operatorClass } = config.spec;
  const claimant: Claimant = {
    kind: 'InjectorConfig',
    name: config.metadata.name,
    revision: revisionOf(config),
    operatorClass,
    keys: webhook.keys,
    isCustom: webhook.selection === 'Custom',
    selectors: webhookSelectors(config, webhook.excludedNamespaces),
    createdAt: config.metadata.creationTimestamp ?? '',
  };
  known.set(config, claimant);
  return claimant;
}

/**
 * @param config where the tag leads, or is to lead
 * @param standsInFor the InjectorConfig whose place it has taken: whoever had to yield to that one yields to the tag
 */
export function claimantOfTag(tag: RevisionTag, config: InjectorConfig, standsInFor?: InjectorConfig): Claimant {
  const { keys, excludedNamespaces } = config.spec.webhook;
  const ages = [tag, ...(standsInFor === undefined ? [] : [standsInFor])];
  const [createdAt = ''] = ages.map(({ metadata }) => metadata.creationTimestamp ?? '').sort();
  return {
    kind: 'RevisionTag',
    name: tag.metadata.name,
    revision: tag.metadata.name,
    operatorClass: tag.spec.operatorClass,
    keys,
    isCustom: false,
    selectors: tagSelectors(tag, config, excludedNamespaces),
    createdAt,
  };
}

/**
 * Everybody who wants pods. An InjectorConfig `default` that a tag of its class stands in for wants none by itself, a tag that leads to no
 * InjectorConfig neither, and what is being deleted no longer.
 * @param leadsTo the InjectorConfig that a tag leads to, or is to lead to; undefined when there is none
 */
export function claimants(
  configs: readonly InjectorConfig[],
  tags: readonly RevisionTag[],
  leadsTo: (tag: RevisionTag) => InjectorConfig | undefined,
): Claimant[] {
  const isLive = ({ metadata }: { metadata: ObjectMeta }): boolean => metadata.deletionTimestamp === undefined;
  const live = configs.filter(isLive);
  const standIn = live.find((config) => isTagged(config, tags));
  return [
    ...live.filter((config) => config !== standIn).map(claimantOfConfig),
    ...tags.filter(isLive).flatMap((tag) => {
      const config = leadsTo(tag);
      if (config === undefined) return [];
      return [claimantOfTag(tag, config, tag.metadata.name === defaultRevision ? standIn : undefined)];
    }),
  ];
}

/**
 * Whether tag `default` stands in for an InjectorConfig: everything that means default is then written for the tag, into the one object
 * `sidecar-injector-default`. With selectors of its own the InjectorConfig does not mean default, and keeps that object or yields it by age.
 */
export function isTagged(config: InjectorConfig, tags: readonly RevisionTag[]): boolean {
  return (
    config.metadata.name === defaultRevision &&
    config.spec.webhook.selection === 'Revision' &&
    tags.some(
      ({ metadata, spec }) =>
        metadata.name === defaultRevision &&
        metadata.deletionTimestamp === undefined &&
        spec.operatorClass === config.spec.operatorClass,
    )
  );
}

/**
 * The claimant to which this one must yield, if any: of those that would take the same pods the oldest stays, then an InjectorConfig before a tag,
 * then the first by name.
 */
export function claimWinner(claimant: Claimant, others: readonly Claimant[]): Claimant | undefined {
  return others
    .filter((other) => areOverlapping(claimant, other) && order(other, claimant) < 0)
    .sort((one, other) => order(one, other))[0];
}

/**
 * Whether two claimants would take the same pods. Pods are told apart by the labels of a family, so only members of one family can meet; within it
 * they do when they answer to the same revision, or when one has selectors of its own that some pod could match together with the other's. (Who
 * needs the one object of the default meets there too.)
 */
export function areOverlapping(one: Claimant, other: Claimant): boolean {
  if (one.kind === other.kind && one.name === other.name) return false;
  if (one.operatorClass !== other.operatorClass) return false;
  if (one.name === defaultRevision && other.name === defaultRevision) return true;
  if (!isDeepStrictEqual(one.keys, other.keys)) return false;
  if (!one.isCustom && !other.isCustom) return one.revision === other.revision;
  return meet(one.selectors, other.selectors);
}

/** Whether some pod could match both lists of webhooks. */
export function meet(
  one: readonly Pick<WebhookSelectors, 'namespaceSelector' | 'objectSelector'>[],
  other: readonly Pick<WebhookSelectors, 'namespaceSelector' | 'objectSelector'>[],
): boolean {
  return one.some((mine) =>
    other.some(
      (theirs) =>
        !areDisjoint(mine.namespaceSelector, theirs.namespaceSelector) &&
        !areDisjoint(mine.objectSelector, theirs.objectSelector),
    ),
  );
}

/** `InjectorConfig 1-24`, as messages name it. */
export function nameOf({ kind, name }: Pick<Claimant, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

function order(one: Claimant, other: Claimant): number {
  const rank = ({ createdAt: at, kind, name }: Claimant): [string, string, string] => [at, kind, name];
  const [mine, theirs] = [rank(one), rank(other)];
  for (const [index, value] of mine.entries()) {
    const against = theirs[index] ?? '';
    if (value !== against) return value < against ? -1 : 1;
  }
  return 0;
}
