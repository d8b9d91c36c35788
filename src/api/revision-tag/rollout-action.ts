import { parseAnnotationRequest } from '../injector-config/annotation-request.ts';
import { ownName } from '../own-names.ts';

/** The annotation of a RevisionTag with which a user controls a rollout: `<verb>:<nonce>`. */
export const rolloutActionAnnotation = ownName('action');

/** `abort` rolls back, `resume` ends a pause, `retry` starts the rollout again after a rollback. */
export const rolloutVerbs = ['promote', 'abort', 'pause', 'resume', 'retry'] as const;
export type RolloutVerb = (typeof rolloutVerbs)[number];

/** A rollout request. The operator answers each nonce once. */
export interface RolloutAction {
  readonly verb: RolloutVerb;
  /** 1 to 63 characters of A-Z, a-z, 0-9 and `-`. */
  readonly nonce: string;
}

export function formatRolloutAction({ verb, nonce }: RolloutAction): string {
  return `${verb}:${nonce}`;
}

/** Parses {@link rolloutActionAnnotation}. @throws ConfigurationError with the allowed form */
export function parseRolloutAction(value: string): RolloutAction {
  const [verb, nonce] = parseAnnotationRequest(rolloutActionAnnotation, rolloutVerbs, value);
  return { verb, nonce };
}
