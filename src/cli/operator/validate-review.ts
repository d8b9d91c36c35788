import { ConfigurationError } from '../../api/errors.ts';
import type { Mistake } from '../../api/mistake.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/validate-injector-config.ts';
import type { AdmissionRequest } from '../../server/admission-request.ts';

/**
 * What the validating webhook refuses: objects that no reconcile could ever act on. Whether the templates compile is not among it: an object may be applied before
 * what it refers to, and the condition TemplatesValid says so while the last good configuration stays.
 */
export function validateReview(request: AdmissionRequest): readonly Mistake[] {
  if (request.operation === 'DELETE') return [];
  try {
    return validateInjectorConfig(parseInjectorConfig(request.object));
  } catch (error) {
    if (error instanceof ConfigurationError) return [{ field: error.field, message: error.message }];
    throw error;
  }
}
