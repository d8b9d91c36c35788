import { type AdmissionDecision, allowed, denied, type FieldError } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** Checks an object that is created, updated or deleted: every mistake with its field; none: it may go on. */
export type ValidateObject = (request: AdmissionRequest) => readonly FieldError[] | Promise<readonly FieldError[]>;

/** `/validate`: our own resources. A refusal names all the fields that are wrong, in its message and as causes. */
export function validateRoute(validate: ValidateObject): AdmissionRoute {
  const handler = (request: AdmissionRequest): AdmissionDecision | Promise<AdmissionDecision> => {
    const errors = validate(request);
    return errors instanceof Promise ? errors.then((found) => verdict(request, found)) : verdict(request, errors);
  };
  return { kind: 'validate', resolve: (path) => (path === '/validate' ? { handler } : undefined) };
}

function verdict(request: AdmissionRequest, errors: readonly FieldError[]): AdmissionDecision {
  if (errors.length === 0) return allowed('Valid');
  const list = errors.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');
  return denied('Invalid', 422, `${request.resource ?? 'object'} "${request.name}" is invalid: ${list}`, errors);
}
