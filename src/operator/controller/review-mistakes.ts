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
import { obstacleOf, readinessOf, revisionsOf } from '../tags/tag-plan.ts';
import { readOrRefuse } from './parsed-configs.ts';
import type { TagTargets } from '../tags/tag-targets.ts';

/**
 * Who would take the same pods as an InjectorConfig that is about to be stored, and who has the host of its url. A change is refused only for what it
 * brings about.
 */
export function configMistakes(config: InjectorConfig, old: unknown, targets: TagTargets): Mistake[] {
  const before = readOrNothing(() => parseInjectorConfig(old));
  return [...configOverlaps(config, before, targets.claims()), ...hostMistakes(config, before, targets)];
}

/** Who has the host of `spec.webhook.url` already, with a certificate of another authority; see `host-claims.ts`. */
function hostMistakes(config: InjectorConfig, before: InjectorConfig | undefined, targets: TagTargets): Mistake[] {
  const host = webhookHost(config);
  if (host === undefined || (before !== undefined && isServedAsBefore(config, before))) return [];
  return targets
    .configs()
    .filter(({ metadata }) => metadata.name !== config.metadata.name && metadata.deletionTimestamp === undefined)
    .filter((other) => webhookHost(other) === host && !haveOneCertificate(other, config))
    .map((other) => ({ field: 'spec.webhook.url', message: hostTaken(host, other) }));
}

/** The same host by the same certificate. */
function isServedAsBefore(config: InjectorConfig, before: InjectorConfig): boolean {
  const sourceOf = ({ spec }: InjectorConfig): string | undefined =>
    spec.certificate.secretRef?.name ?? spec.certificate.certificateRef?.name;
  return webhookHost(config) === webhookHost(before) && sourceOf(config) === sourceOf(before);
}

/**
 * What keeps a RevisionTag that is about to be stored from leading where its spec says: an unknown revision, one that is not ready, and who would take the
 * same pods. A tag whose spec does not change is not asked again.
 */
export function tagMistakes(tag: RevisionTag, old: unknown, targets: TagTargets): Mistake[] {
  const before = readOrNothing(() => parseRevisionTag(old));
  if (before !== undefined && isDeepStrictEqual(before.spec, tag.spec)) return [];
  const wanted = targets.desired(tag);
  const current = targets.current(tag.metadata.name);
  const isMoved = before?.spec.revision !== tag.spec.revision;
  const obstacle = isMoved
    ? obstacleOf({ tag, desired: wanted, current, revisions: revisionsOf(targets.configs()) })
    : undefined;
  const field = 'spec.revision';
  if (obstacle !== undefined) return [{ field, message: obstacle.message }];
  const unready = isMoved && wanted !== undefined && !isBeingEdited(wanted) ? readinessOf(wanted) : undefined;
  if (unready !== undefined) {
    const advice = 'wait until it is (its conditions say what is missing), or name another revision';
    return [{ field, message: `${field} ${tag.spec.revision}: ${unready.message}; ${advice}` }];
  }
  const config = wanted ?? current;
  return config === undefined ? [] : tagOverlaps(tag, before, config, targets.claims());
}

/** For the moment in which replicas load an edit, what was published before is served: a tag may be moved there, and waits with it. */
function isBeingEdited({ status }: InjectorConfig): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.reason === 'WaitingForReplicas' && status?.config?.hash !== undefined;
}

function readOrNothing<T>(read: () => T): T | undefined {
  const found = readOrRefuse(read);
  return found instanceof ConfigurationError ? undefined : found;
}

/** The RevisionTags that lead to an InjectorConfig, or are to: it is in use by them. */
export function tagsLeadingTo(object: KubernetesObject, targets: TagTargets): string[] {
  return object.kind === 'InjectorConfig' ? targets.tagsOf(object) : [];
}
