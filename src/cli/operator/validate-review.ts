import { setTimeout } from 'node:timers/promises';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { revisionTagKind } from '../../api/revision-tag/revision-tag.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { refuseUnusable } from '../../inject/rehearsal/rehearse.ts';
import { configurationFiles, inSpec } from '../../manifests/configuration-files.ts';
import type { LoadConfiguration } from '../../operator/ports.ts';
import type { TagTargets } from '../../operator/tags/tag-targets.ts';
import type { AdmissionRequest } from '../../server/admission/admission-decision.ts';
import type { Validation } from '../../server/admission/validate-route.ts';
import { messageOf } from '../files.ts';
import { inUseRefusal } from './in-use.ts';
import { configMistakes, reviewTag, tagsPointingTo } from '../../operator/controller/review-mistakes.ts';
import type { ReviewedObjects } from '../../operator/controller/reviewed-objects.ts';

/** How long a review waits for a trial, in milliseconds. The webhook's timeout is 5 s. */
const trialMs = 2000;

/**
 * Reviews an InjectorConfig or RevisionTag for the validating webhook. It refuses overlaps and
 * objects that cannot be reconciled. A template that does not compile causes only a warning:
 * referenced ConfigMaps can follow later, the operator does not publish such a template, and
 * condition TemplatesValid reports the error. So does a revision that a tag has to wait for.
 * @param known the other objects; while they are absent or not listed, overlaps are not checked
 */
export async function validateReview(
  load: LoadConfiguration,
  request: AdmissionRequest,
  known?: Pick<ReviewedObjects, 'targets' | 'synced'>,
): Promise<Validation> {
  const targets = known?.synced === true ? known.targets : undefined;
  if (request.operation === 'DELETE') return validateDeletion(request.oldObject, targets);
  try {
    return await validateWritten(load, request, targets);
  } catch (error) {
    if (error instanceof ConfigurationError) return { mistakes: [{ field: error.field, message: error.message }] };
    throw error;
  }
}

async function validateWritten(
  load: LoadConfiguration,
  { object, oldObject }: AdmissionRequest,
  targets: TagTargets | undefined,
): Promise<Validation> {
  // The operator updates an object during its deletion, to remove the finalizer.
  const isDeleting = isObject(object) && object.metadata.deletionTimestamp !== undefined;
  const known = isDeleting ? undefined : targets;
  if (isObject(object) && object.kind === revisionTagKind) {
    const tag = parseRevisionTag(object);
    const mistakes = validateRevisionTag(tag);
    return mistakes.length > 0 || known === undefined ? { mistakes } : reviewTag(tag, oldObject, known);
  }
  const config = parseInjectorConfig(object);
  const own = validateInjectorConfig(config);
  const mistakes = own.length > 0 || known === undefined ? own : configMistakes(config, oldObject, known);
  return { mistakes, warnings: mistakes.length === 0 ? await compileWarnings(load, config) : [] };
}

function isObject(value: unknown): value is KubernetesObject {
  return typeof value === 'object' && value !== null && 'metadata' in value && typeof value.metadata === 'object';
}

/** Refuses the deletion of an object in use. A deleted collection has no object to check. */
function validateDeletion(object: unknown, targets: TagTargets | undefined): Validation {
  if (!isObject(object)) return { mistakes: [] };
  const refusal = inUseRefusal(object, targets === undefined ? [] : tagsPointingTo(object, targets));
  return { mistakes: [], ...(refusal === undefined ? {} : { inUse: refusal }) };
}

async function compileWarnings(load: LoadConfiguration, config: InjectorConfig): Promise<string[]> {
  // Only the operator reads references; this webhook does not.
  const { injection } = config.spec;
  if (Object.keys(injection).some((field) => field.endsWith('From'))) return [];
  try {
    // A slow trial continues; a later review gets its result.
    const late = setTimeout(trialMs, undefined, { ref: false });
    const loaded = await Promise.race([load(configurationFiles(config)), late]);
    if (loaded !== undefined) {
      refuseUnusable(loaded);
      return [...loaded.warnings, ...(loaded.rehearsal?.warnings ?? [])];
    }
    const seconds = String(trialMs / 1000);
    return [`not published yet: the trial takes longer than ${seconds} s; see condition TemplatesValid later`];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return [`not published yet: ${messageOf(error)}`];
    const { message } = inSpec(error);
    const [first = ''] = message.split('\n');
    // A warning has one line, so drop the template's line and the caret.
    return [`not published: ${/: line \d+, column \d+: /.test(first) ? first : message}`];
  }
}
