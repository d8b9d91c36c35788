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
import { configMistakes, tagMistakes, tagsPointingTo } from '../../operator/controller/review-mistakes.ts';
import type { ReviewedObjects } from '../../operator/controller/reviewed-objects.ts';

/** How long an answer waits for a trial, of the 5 s that the webhook has. Milliseconds. */
const trialMs = 2000;

/**
 * What the validating webhook says of an InjectorConfig or RevisionTag. It refuses objects that no reconcile could ever act on, and what would take the
 * pods of somebody else. A template that does not compile is a warning: the object may be applied before what it refers to, nothing broken is ever
 * published, and the condition TemplatesValid says the same for as long as it lasts.
 * @param known the other InjectorConfigs and RevisionTags; without them, and until they have been read, an object is looked at by itself
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
  // What is on its way out is written once more, without our finalizer.
  const isLeaving = isObject(object) && object.metadata.deletionTimestamp !== undefined;
  const known = isLeaving ? undefined : targets;
  if (isObject(object) && object.kind === revisionTagKind) {
    const tag = parseRevisionTag(object);
    const mistakes = validateRevisionTag(tag);
    return { mistakes: mistakes.length > 0 || known === undefined ? mistakes : tagMistakes(tag, oldObject, known) };
  }
  const config = parseInjectorConfig(object);
  const own = validateInjectorConfig(config);
  const mistakes = own.length > 0 || known === undefined ? own : configMistakes(config, oldObject, known);
  return { mistakes, warnings: mistakes.length === 0 ? await compileWarnings(load, config) : [] };
}

function isObject(value: unknown): value is KubernetesObject {
  return typeof value === 'object' && value !== null && 'metadata' in value && typeof value.metadata === 'object';
}

/** What is in use stays, unless somebody says that it may go. Of what the API server does not show (a collection as a whole) nothing can be said. */
function validateDeletion(object: unknown, targets: TagTargets | undefined): Validation {
  if (!isObject(object)) return { mistakes: [] };
  const refusal = inUseRefusal(object, targets === undefined ? [] : tagsPointingTo(object, targets));
  return { mistakes: [], ...(refusal === undefined ? {} : { inUse: refusal }) };
}

async function compileWarnings(load: LoadConfiguration, config: InjectorConfig): Promise<string[]> {
  // What it refers to is read by the operator, not here.
  const { injection } = config.spec;
  if (Object.keys(injection).some((field) => field.endsWith('From'))) return [];
  try {
    // What takes longer goes on, for whoever asks next.
    const late = setTimeout(trialMs, undefined, { ref: false });
    const loaded = await Promise.race([load(configurationFiles(config)), late]);
    if (loaded !== undefined) {
      refuseUnusable(loaded);
      return [...loaded.warnings, ...(loaded.rehearsal?.warnings ?? [])];
    }
    const seconds = String(trialMs / 1000);
    return [`not published yet: trying it takes longer than ${seconds} s; the condition TemplatesValid will say more`];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return [`not published yet: ${messageOf(error)}`];
    const { message } = inSpec(error);
    const [first = ''] = message.split('\n');
    // A warning is one line, which has no use for the template's and its caret.
    return [`not published: ${/: line \d+, column \d+: /.test(first) ? first : message}`];
  }
}
