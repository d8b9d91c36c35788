import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { areDisjoint } from './label-selector.ts';
import { type WebhookOwner, webhookSelectors, type WebhookSelectors } from './webhook-selectors.ts';

/** The pods that an InjectorConfig selects, or a RevisionTag together with its target. */
export interface PodClaim extends WebhookOwner {
  readonly kind: 'InjectorConfig' | 'RevisionTag';
  readonly name: string;
  /** The value of the revision label by which pods are selected. */
  readonly revision: string;
  readonly operatorClass: string;
  /** The labels of the family. Claims of different families never overlap. */
  readonly keys: WebhookKeys;
  /** Whether the user wrote the selectors (`selection: Custom`). */
  readonly isCustom: boolean;
  readonly selectors: readonly WebhookSelectors[];
  /** The creation time of the object, as in RFC 3339. */
  readonly createdAt: string;
}

/** A cache of claims. Parsed objects never change, and each pass compares all claims. */
const known = new WeakMap<InjectorConfig, PodClaim>();

export function claimOfConfig(config: InjectorConfig): PodClaim {
  const before = known.get(config);
  if (before !== undefined) return before;
  const { webhook, operatorClass } = config.spec;
  const claim: PodClaim = {
    config,
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
 * @param config the target of the tag
 * @param replaced the InjectorConfig that the tag replaces: the claim is as old as the older object
 */
export function claimOfTag(tag: RevisionTag, config: InjectorConfig, replaced?: InjectorConfig): PodClaim {
  const { keys, excludedNamespaces } = config.spec.webhook;
  const ages = [tag, ...(replaced === undefined ? [] : [replaced])];
  const [createdAt = ''] = ages.map(({ metadata }) => metadata.creationTimestamp ?? '').sort();
  return {
    config,
    tag,
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

/** The objects that select pods. */
export interface ClaimingObjects {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** Returns the target of a tag, if it has one. */
  readonly targetOf: (tag: RevisionTag) => InjectorConfig | undefined;
}

/**
 * Returns the claims of all objects. Omits InjectorConfig `default` if a tag of its class replaces
 * it, tags that have no target, and objects that are being deleted.
 */
export function podClaims({ configs, tags, targetOf }: ClaimingObjects): PodClaim[] {
  const isLive = ({ metadata }: { metadata: ObjectMeta }): boolean => metadata.deletionTimestamp === undefined;
  const live = configs.filter(isLive);
  const replaced = live.find((config) => isTagged(config, tags));
  return [
    ...live.filter((config) => config !== replaced).map(claimOfConfig),
    ...tags.filter(isLive).flatMap((tag) => {
      const config = targetOf(tag);
      if (config === undefined) return [];
      return [claimOfTag(tag, config, tag.metadata.name === defaultRevision ? replaced : undefined)];
    }),
  ];
}

/**
 * Reports whether tag `default` replaces an InjectorConfig. The operator then writes the webhooks
 * of the tag to the same object, `sidecar-injector-default`. A tag does not replace an
 * InjectorConfig with custom selectors: the older of the two keeps that object.
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
 * Returns the claim to which a claim must yield. Of several overlapping claims, the oldest wins. If
 * their ages are equal, an InjectorConfig wins over a tag, and then the first name wins.
 */
export function winningClaim(claim: PodClaim, others: readonly PodClaim[]): PodClaim | undefined {
  return others
    .filter((other) => areOverlapping(claim, other) && order(other, claim) < 0)
    .sort((one, other) => order(one, other))[0];
}

/** Returns the claim to which an InjectorConfig must yield; see {@link winningClaim}. */
export function configWinner(config: InjectorConfig, claiming: ClaimingObjects): PodClaim | undefined {
  return winningClaim(claimOfConfig(config), rivalsOf(config, claiming));
}

/** Returns all claims, without the tag that replaces an InjectorConfig. */
export function rivalsOf(config: InjectorConfig, claiming: ClaimingObjects): PodClaim[] {
  const { tags } = claiming;
  const others = isTagged(config, tags) ? tags.filter(({ metadata }) => metadata.name !== config.metadata.name) : tags;
  return podClaims({ ...claiming, tags: others });
}

/** Returns the claim to which a tag must yield. A tag that has no target yields to no claim. */
export function tagWinner(tag: RevisionTag, claiming: ClaimingObjects): PodClaim | undefined {
  const all = podClaims(claiming);
  const own = all.find(({ kind, name }) => kind === 'RevisionTag' && name === tag.metadata.name);
  return own && winningClaim(own, all);
}

/**
 * Reports whether two claims overlap. Only claims of one family can select the same pod, because
 * each family has its own labels. They overlap if they have the same revision or, with custom
 * selectors, if a pod could match the selectors of both claims. Two claims named `default` always
 * overlap, because both need the same webhook configuration.
 */
export function areOverlapping(one: PodClaim, other: PodClaim): boolean {
  if (one.kind === other.kind && one.name === other.name) return false;
  if (one.operatorClass !== other.operatorClass) return false;
  if (one.name === defaultRevision && other.name === defaultRevision) return true;
  if (!isDeepStrictEqual(one.keys, other.keys)) return false;
  if (!one.isCustom && !other.isCustom) return one.revision === other.revision;
  return intersect(one.selectors, other.selectors);
}

/** Reports whether a pod could match a webhook of each list. */
export function intersect(one: readonly WebhookSelectors[], other: readonly WebhookSelectors[]): boolean {
  return one.some((mine) =>
    other.some(
      (yours) =>
        !areDisjoint(mine.namespaceSelector, yours.namespaceSelector) &&
        !areDisjoint(mine.objectSelector, yours.objectSelector),
    ),
  );
}

/** Formats the name of a claim for messages: `InjectorConfig 1-24`. */
export function nameOf({ kind, name }: Pick<PodClaim, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

function order(one: PodClaim, other: PodClaim): number {
  const field = (['createdAt', 'kind', 'name'] as const).find((each) => one[each] !== other[each]);
  if (field === undefined) return 0;
  return one[field] < other[field] ? -1 : 1;
}
