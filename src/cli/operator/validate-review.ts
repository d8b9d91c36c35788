import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import type { InjectorConfig } from '../../api/injector-config.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/validate-injector-config.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import type { LoadConfiguration } from '../../operator/ports.ts';
import type { AdmissionRequest } from '../../server/admission-request.ts';
import type { Validation } from '../../server/validate-route.ts';
import { inUseRefusal } from './in-use.ts';

/**
 * What the validating webhook says of an InjectorConfig. It refuses objects that no reconcile could ever act on. A template that does not compile is a warning: the object may be
 * applied before what it refers to, nothing broken is ever published, and the condition TemplatesValid says the same for as long as it lasts.
 * @param tagsOf the RevisionTags that lead to an InjectorConfig
 */
export async function validateReview(
  load: LoadConfiguration,
  request: AdmissionRequest,
  tagsOf: (object: KubernetesObject) => readonly string[] = () => [],
): Promise<Validation> {
  if (request.operation === 'DELETE') return validateDeletion(request.oldObject, tagsOf);
  try {
    const config = parseInjectorConfig(request.object);
    const mistakes = validateInjectorConfig(config);
    return { mistakes, warnings: mistakes.length === 0 ? await compileWarnings(load, config) : [] };
  } catch (error) {
    if (error instanceof ConfigurationError) return { mistakes: [{ field: error.field, message: error.message }] };
    throw error;
  }
}

/** What is in use stays, unless somebody says that it may go. Of what the API server does not show (a collection as a whole) nothing can be said. */
function validateDeletion(object: unknown, tagsOf: (object: KubernetesObject) => readonly string[]): Validation {
  if (object === null || object === undefined) return { mistakes: [] };
  const refusal = inUseRefusal(object as KubernetesObject, tagsOf(object as KubernetesObject));
  return { mistakes: [], ...(refusal === undefined ? {} : { inUse: refusal }) };
}

async function compileWarnings(load: LoadConfiguration, config: InjectorConfig): Promise<string[]> {
  // What it refers to is read by the operator, not here.
  const { injection } = config.spec;
  if (Object.keys(injection).some((field) => field.endsWith('From'))) return [];
  try {
    const { warnings } = await load(configurationFiles(config));
    return [...warnings];
  } catch (error) {
    if (error instanceof ConfigurationError) return [`not published: ${error.message}`];
    throw error;
  }
}
