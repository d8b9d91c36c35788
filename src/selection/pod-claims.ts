import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { areDisjoint } from './label-selector.ts';
import { webhookSelectors, type WebhookSelectors } from './webhook-selectors.ts';

/** Who wants pods: an InjectorConfig, or a RevisionTag together with the InjectorConfig that it leads to. */
export interface PodClaim {
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
const known = new WeakMap<InjectorConfig, PodClaim>();

export function claimOfConfig(config: InjectorConfig): PodClaim {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { webhook, operatorClass } = config.spec;
  const claim: PodClaim = {
    kind: 'InjectorConfig',
    name: config.metadata.name,
    revision: revisionOf(config),
    operatorClass,
    keys: webhook.keys,
    isCustom: webhook.selection === 'Custom',
    selectors: webhookSelectors({ config }, webhook.excludedNamespaces),
    createdAt: config.metadata.creationTimestamp ?? '',
  };
  known.set(config, claim);
  return claim;
}

/**
 * @param config where the tag leads, or is to lead
 * @param standsInFor the InjectorConfig whose place it has taken: whoever had to yield to that one yields to the tag
 */
export function claimOfTag(tag: RevisionTag, config: InjectorConfig, standsInFor?: InjectorConfig): PodClaim {
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
    selectors: webhookSelectors({ config, tag }, excludedNamespaces),
    createdAt,
  };
}

/** Everybody who wants pods, as far as it can be read. */
export interface ClaimingObjects {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** The InjectorConfig that a tag leads to, or is to lead to. */
  readonly targetOf: (tag: RevisionTag) => InjectorConfig | undefined;
}

/**
 * Everybody who wants pods. An InjectorConfig `default` that a tag of its class stands in for wants none by itself, a tag that leads to no
 * InjectorConfig neither, and what is being deleted no longer.
 */
export function podClaims({ configs, tags, targetOf }: ClaimingObjects): PodClaim[] {
  const isLive = ({ metadata }: { metadata: ObjectMeta }): boolean => metadata.deletionTimestamp === undefined;
  const live = configs.filter(isLive);
  const standIn = live.find((config) => isTagged(config, tags));
  return [
    ...live.filter((config) => config !== standIn).map(claimOfConfig),
    ...tags.filter(isLive).flatMap((tag) => {
      const config = targetOf(tag);
      if (config === undefined) return [];
      return [claimOfTag(tag, config, tag.metadata.name === defaultRevision ? standIn : undefined)];
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
 * The claim to which this one must yield, if any: of those that would take the same pods the oldest stays, then an InjectorConfig before a tag,
 * then the first by name.
 */
export function winningClaim(claim: PodClaim, others: readonly PodClaim[]): PodClaim | undefined {
  return others
    .filter((other) => areOverlapping(claim, other) && order(other, claim) < 0)
    .sort((one, other) => order(one, other))[0];
}

/** To whom an InjectorConfig must yield, if anybody: of those that would take the same pods the oldest stays. */
export function configWinner(config: InjectorConfig, claiming: ClaimingObjects): PodClaim | undefined {
  return winningClaim(claimOfConfig(config), rivalsOf(config, claiming));
}

/** Who may want the same pods as an InjectorConfig: never the tag that stands in for it. */
export function rivalsOf(config: InjectorConfig, claiming: ClaimingObjects): PodClaim[] {
  const { tags } = claiming;
  const others = isTagged(config, tags) ? tags.filter(({ metadata }) => metadata.name !== config.metadata.name) : tags;
  return podClaims({ ...claiming, tags: others });
}

/** To whom a tag must yield, if anybody; nobody while it leads nowhere. */
export function tagWinner(tag: RevisionTag, claiming: ClaimingObjects): PodClaim | undefined {
  const everybody = podClaims(claiming);
  const own = everybody.find(({ kind, name }) => kind === 'RevisionTag' && name === tag.metadata.name);
  return own && winningClaim(own, everybody);
}

/**
 * Whether two claims would take the same pods. Pods are told apart by the labels of a family, so only members of one family can meet; within it
 * they do when they answer to the same revision, or when one has selectors of its own that some pod could match together with the other's. (Who
 * needs the one object of the default meets there too.)
 */
export function areOverlapping(one: PodClaim, other: PodClaim): boolean {
  if (one.kind === other.kind && one.name === other.name) return false;
  if (one.operatorClass !== other.operatorClass) return false;
  if (one.name === defaultRevision && other.name === defaultRevision) return true;
  if (!isDeepStrictEqual(one.keys, other.keys)) return false;
  if (!one.isCustom && !other.isCustom) return one.revision === other.revision;
  return meet(one.selectors, other.selectors);
}

/** Whether some pod could match both lists of webhooks. */
export function meet(one: readonly WebhookSelectors[], other: readonly WebhookSelectors[]): boolean {
  return one.some((mine) =>
    other.some(
      (theirs) =>
        !areDisjoint(mine.namespaceSelector, theirs.namespaceSelector) &&
        !areDisjoint(mine.objectSelector, theirs.objectSelector),
    ),
  );
}

/** `InjectorConfig 1-24`, as messages name it. */
export function nameOf({ kind, name }: Pick<PodClaim, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

function order(one: PodClaim, other: PodClaim): number {
  const field = (['createdAt', 'kind', 'name'] as const).find((each) => one[each] !== other[each]);
  if (field === undefined) return 0;
  return one[field] < other[field] ? -1 : 1;
}
