import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import { apiVersion, type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Mistake } from '../../api/mistake.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { configOverlaps, tagOverlaps } from '../../selection/new-overlaps.ts';
import { type ClaimingObjects, isTagged } from '../../selection/pod-claims.ts';
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
  return [...configOverlaps(config, before, expectedClaims(targets)), ...hostMistakes(config, before, targets)];
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
 * Returns why a RevisionTag must not be written, and warnings. A revision that is unknown, paused
 * or not ready is only a warning, because the cache may be stale, and because users apply tags with
 * their InjectorConfigs: the tag waits. Returns nothing if the spec is unchanged.
 */
export function reviewTag(
  tag: RevisionTag,
  old: unknown,
  targets: TagTargets,
): { readonly mistakes: readonly Mistake[]; readonly warnings: readonly string[] } {
  const before = resultOrUndefined(() => parseRevisionTag(old));
  if (before !== undefined && isDeepStrictEqual(before.spec, tag.spec)) return { mistakes: [], warnings: [] };
  const { revision } = tag.spec;
  const desired = targets.desired(tag);
  const current = targets.current(tag.metadata.name);
  const isMoved = before?.spec.revision !== revision;
  const obstacle = isMoved
    ? obstacleOf({ tag, desired, current, revisions: revisionsOf(targets.configs()) })
    : undefined;
  const isTag = revision !== defaultRevision && targets.tags().some(({ metadata }) => metadata.name === revision);
  const isPassing = desired === undefined ? !isTag : desired.spec.paused;
  if (obstacle !== undefined && !isPassing)
    return { mistakes: [{ field: 'spec.revision', message: obstacle.message }], warnings: [] };
  const missing = obstacle ?? (isMoved && desired !== undefined ? whyNotReady(desired) : undefined);
  const config = desired ?? current ?? expectedConfig(revision);
  const mistakes = tagOverlaps(tag, before, config, expectedClaims(targets));
  if (missing === undefined || mistakes.length > 0) return { mistakes, warnings: [] };
  const serving = [current, ...targets.configs().filter((each) => isTagged(each, [tag]))].find(
    (each) => each !== undefined && !each.spec.paused,
  );
  const pods = serving === undefined ? 'get no sidecar' : `get revision ${revisionOf(serving)}`;
  const waits = `RevisionTag ${tag.metadata.name} waits until revision ${revision} is Ready; until then, pods that follow it ${pods}`;
  return { mistakes, warnings: [waits, missing.message] };
}

/** Returns all claims. A tag whose revision does not exist is assumed to use the default keys. */
function expectedClaims(targets: TagTargets): ClaimingObjects {
  const claims = targets.claims();
  return { ...claims, targetOf: (tag) => claims.targetOf(tag) ?? expectedConfig(tag.spec.revision) };
}

function expectedConfig(revision: string): InjectorConfig {
  const spec = { injection: { templates: {} } };
  return parseInjectorConfig({ apiVersion, kind: 'InjectorConfig', metadata: { name: revision }, spec });
}

function resultOrUndefined<T>(read: () => T): T | undefined {
  const found = catchConfigurationError(read);
  return found instanceof ConfigurationError ? undefined : found;
}

/** Returns the RevisionTags whose current or desired target is an InjectorConfig. */
export function tagsPointingTo(object: KubernetesObject, targets: TagTargets): string[] {
  return object.kind === 'InjectorConfig' ? targets.tagsOf(object) : [];
}
