import type { Mistake } from '../../api/mistake.ts';
import { validatePath } from '../../api/names.ts';
import { type AdmissionDecision, allowed, denied, type AdmissionRequest } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';

/** What is to be said of an object. */
export interface Validation {
  /** Every mistake with its field; none: it may go on. */
  readonly mistakes: readonly Mistake[];
  /** What is allowed and yet wrong, a short sentence each: shown to whoever applies the object. */
  readonly warnings?: readonly string[];
  /** Why an object must not be deleted now: a sentence that names it and who uses it. */
  readonly inUse?: string;
}

/** Checks an object that is created, updated or deleted. */
export type ValidateObject = (request: AdmissionRequest) => Validation | Promise<Validation>;

/** `/validate`: our own resources. A refusal names all the fields that are wrong, in its message and as causes. */
export function validateRoute(validate: ValidateObject): AdmissionRoute {
  const handler = async (request: AdmissionRequest): Promise<AdmissionDecision> =>
    verdict(request, await validate(request));
  return { kind: 'validate', resolve: (path) => (path === validatePath ? { handler } : undefined) };
}

function verdict(request: AdmissionRequest, { mistakes, warnings, inUse }: Validation): AdmissionDecision {
  if (inUse !== undefined) return denied('InUse', 409, inUse);
  if (mistakes.length === 0) return allowed('Valid', warnings);
  const list = mistakes
    .map(({ field, message }) => (field === '' || message.startsWith(field) ? message : `${field}: ${message}`))
    .join('; ');
  const { kind = request.resource } = (request.object ?? {}) as { kind?: string };
  const subject = { ...(kind === undefined ? {} : { kind }), name: request.name };
  return denied('Invalid', 422, `${kind ?? 'object'} "${request.name}" is invalid: ${list}`, mistakes, subject);
}
