import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { ObjectMeta } from '../api/kubernetes/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { areDisjoint } from './label-selector.ts';
import { webhookSelectors, type WebhookSelectors } from './webhook-selectors.ts';

/** The pods that an InjectorConfig selects, or a RevisionTag together with its target. */
export interface PodClaim {
  readonly kind: 'InjectorConfig' | 'RevisionTag';
  readonly name: string;
  /** The value of the revision label that it selects. */
  readonly revision: string;
  readonly operatorClass: string;
  /** The labels of its family. Claims of different families never overlap. */
  readonly keys: WebhookKeys;
  /** Whether the user wrote the selectors (`selection: Custom`). */
  readonly isCustom: boolean;
  readonly selectors: readonly WebhookSelectors[];
  /** RFC 3339. */
  readonly createdAt: string;
}

/** A cache of claims, since objects never change and each pass compares all of them. */
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
 * @param config the target of the tag
 * @param standsInFor the InjectorConfig that the tag replaces: the claim is as old as the older one
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

/** The objects that select pods. */
export interface ClaimingObjects {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** Returns the target of a tag, if it has one. */
  readonly targetOf: (tag: RevisionTag) => InjectorConfig | undefined;
}

/**
 * Returns the claims of all objects, except the InjectorConfig `default` when a tag of its class
 * replaces it, tags without a target, and objects that are being deleted.
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
 * Reports whether tag `default` replaces an InjectorConfig: the operator then writes the webhooks
 * of the default revision for the tag, to the same object `sidecar-injector-default`. An
 * InjectorConfig `default` with custom selectors is not the default revision; it keeps that object,
 * or yields by age.
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
 * Returns the claim to which a claim must yield. Of overlapping claims the oldest wins, then an
 * InjectorConfig over a tag, then the first name.
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

/** Returns the claims that may overlap with an InjectorConfig: never the tag that replaces it. */
export function rivalsOf(config: InjectorConfig, claiming: ClaimingObjects): PodClaim[] {
  const { tags } = claiming;
  const others = isTagged(config, tags) ? tags.filter(({ metadata }) => metadata.name !== config.metadata.name) : tags;
  return podClaims({ ...claiming, tags: others });
}

/** Returns the claim to which a tag must yield; undefined also for a tag without a target. */
export function tagWinner(tag: RevisionTag, claiming: ClaimingObjects): PodClaim | undefined {
  const all = podClaims(claiming);
  const own = all.find(({ kind, name }) => kind === 'RevisionTag' && name === tag.metadata.name);
  return own && winningClaim(own, all);
}

/**
 * Reports whether two claims could select the same pod. Only claims of one family can, because each
 * family has its own labels: claims with the same revision, or with custom selectors that a pod
 * could match together with the other's. Two claims named `default` overlap too, since both need
 * the same webhook configuration.
 */
export function areOverlapping(one: PodClaim, other: PodClaim): boolean {
  if (one.kind === other.kind && one.name === other.name) return false;
  if (one.operatorClass !== other.operatorClass) return false;
  if (one.name === defaultRevision && other.name === defaultRevision) return true;
  if (!isDeepStrictEqual(one.keys, other.keys)) return false;
  if (!one.isCustom && !other.isCustom) return one.revision === other.revision;
  return meet(one.selectors, other.selectors);
}

/** Reports whether a pod could match both lists of webhooks. */
export function meet(one: readonly WebhookSelectors[], other: readonly WebhookSelectors[]): boolean {
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
