import type { Mistake } from '../../api/mistake.ts';
import { validatePath } from '../../api/names.ts';
import { type AdmissionDecision, allowed, denied, type AdmissionRequest } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';

export interface Validation {
  readonly mistakes: readonly Mistake[];
  /** Problems that do not prevent the request, one sentence each. */
  readonly warnings?: readonly string[];
  /** Why the object must not be deleted: a sentence that names the object and its users. */
  readonly inUse?: string;
}

export type ValidateObject = (request: AdmissionRequest) => Validation | Promise<Validation>;

/** Serves `/validate`. A refusal lists all mistakes in its message and as causes. */
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
