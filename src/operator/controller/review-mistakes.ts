import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Mistake } from '../../api/mistake.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { configOverlaps, tagOverlaps } from '../../selection/new-overlaps.ts';
import { haveOneCertificate, hostTaken, webhookHost } from '../../manifests/certificate-terms.ts';
import { obstacleOf, whyNotReady, revisionsOf } from '../tags/tag-plan.ts';
import { catchConfigurationError } from './parsed-configs.ts';
import type { TagTargets } from '../tags/tag-targets.ts';

/**
 * Returns the overlaps and host conflicts that a write of an InjectorConfig would introduce.
 * Ignores overlaps and conflicts that exist already.
 */
export function configMistakes(config: InjectorConfig, old: unknown, targets: TagTargets): Mistake[] {
  const before = resultOrUndefined(() => parseInjectorConfig(old));
  return [...configOverlaps(config, before, targets.claims()), ...hostMistakes(config, before, targets)];
}

/** Returns a mistake for each InjectorConfig with the same host but another certificate. */
function hostMistakes(config: InjectorConfig, before: InjectorConfig | undefined, targets: TagTargets): Mistake[] {
  const host = webhookHost(config);
  if (host === undefined || (before !== undefined && isServedAsBefore(config, before))) return [];
  return targets
    .configs()
    .filter(({ metadata }) => metadata.name !== config.metadata.name && metadata.deletionTimestamp === undefined)
    .filter((other) => webhookHost(other) === host && !haveOneCertificate(other, config))
    .map((other) => ({ field: 'spec.webhook.url', message: hostTaken(host, other) }));
}

/** Reports whether the host and the source of the certificate are unchanged. */
function isServedAsBefore(config: InjectorConfig, before: InjectorConfig): boolean {
  const sourceOf = ({ spec }: InjectorConfig): string | undefined =>
    spec.certificate.secretRef?.name ?? spec.certificate.certificateRef?.name;
  return webhookHost(config) === webhookHost(before) && sourceOf(config) === sourceOf(before);
}

/**
 * Returns why a RevisionTag cannot point to its revision: the revision is unknown or not ready, or
 * another webhook selects the same pods. Returns no mistakes if the spec is unchanged.
 */
export function tagMistakes(tag: RevisionTag, old: unknown, targets: TagTargets): Mistake[] {
  const before = resultOrUndefined(() => parseRevisionTag(old));
  if (before !== undefined && isDeepStrictEqual(before.spec, tag.spec)) return [];
  const desired = targets.desired(tag);
  const current = targets.current(tag.metadata.name);
  const isMoved = before?.spec.revision !== tag.spec.revision;
  const obstacle = isMoved
    ? obstacleOf({ tag, desired, current, revisions: revisionsOf(targets.configs()) })
    : undefined;
  const field = 'spec.revision';
  if (obstacle !== undefined) return [{ field, message: obstacle.message }];
  const unready = isMoved && desired !== undefined && !isBeingEdited(desired) ? whyNotReady(desired) : undefined;
  if (unready !== undefined) {
    const advice = 'wait until it is ready (see its conditions), or name another revision';
    return [{ field, message: `${field} ${tag.spec.revision}: ${unready.message}; ${advice}` }];
  }
  const config = desired ?? current;
  return config === undefined ? [] : tagOverlaps(tag, before, config, targets.claims());
}

/** Reports whether replicas still load an edit; this does not stop a tag from moving to it. */
function isBeingEdited({ status }: InjectorConfig): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.reason === 'WaitingForReplicas' && status?.config?.hash !== undefined;
}

function resultOrUndefined<T>(read: () => T): T | undefined {
  const found = catchConfigurationError(read);
  return found instanceof ConfigurationError ? undefined : found;
}

/** Returns the RevisionTags whose current or desired target is an InjectorConfig. */
export function tagsPointingTo(object: KubernetesObject, targets: TagTargets): string[] {
  return object.kind === 'InjectorConfig' ? targets.tagsOf(object) : [];
}
