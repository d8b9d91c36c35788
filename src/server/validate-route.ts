import type { Mistake } from '../api/mistake.ts';
import { validatePath } from '../api/names.ts';
import { type AdmissionDecision, allowed, denied } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** Checks an object that is created, updated or deleted: every mistake with its field; none: it may go on. */
export type ValidateObject = (request: AdmissionRequest) => readonly Mistake[] | Promise<readonly Mistake[]>;

/** `/validate`: our own resources. A refusal names all the fields that are wrong, in its message and as causes. */
export function validateRoute(validate: ValidateObject): AdmissionRoute {
  const handler = (request: AdmissionRequest): AdmissionDecision | Promise<AdmissionDecision> => {
    const mistakes = validate(request);
    return mistakes instanceof Promise ? mistakes.then((found) => verdict(request, found)) : verdict(request, mistakes);
  };
  return { kind: 'validate', resolve: (path) => (path === validatePath ? { handler } : undefined) };
}

function verdict(request: AdmissionRequest, mistakes: readonly Mistake[]): AdmissionDecision {
  if (mistakes.length === 0) return allowed('Valid');
  const list = mistakes
    .map(({ field, message }) => (field === '' || message.startsWith(field) ? message : `${field}: ${message}`))
    .join('; ');
  return denied('Invalid', 422, `${request.resource ?? 'object'} "${request.name}" is invalid: ${list}`, mistakes);
}
