import { parseAnnotationRequest } from '../injector-config/annotation-request.ts';
import { ownName } from '../own-names.ts';

/** Annotation of a RevisionTag by which a person steers a rollout: `<verb>:<nonce>`. */
export const rolloutActionAnnotation = ownName('action');

/** `promote`: make the canary stable. `abort`: back to stable. `resume`: end the pause. `retry`: begin again after a rollback. */
export const rolloutVerbs = ['promote', 'abort', 'resume', 'retry'] as const;
export type RolloutVerb = (typeof rolloutVerbs)[number];

/** One request; it is answered once. */
export interface RolloutAction {
  readonly verb: RolloutVerb;
  /** 1 to 63 characters of A-Z, a-z, 0-9 and `-`. */
  readonly nonce: string;
}

/** The value of {@link rolloutActionAnnotation} that asks for this. */
export function formatRolloutAction({ verb, nonce }: RolloutAction): string {
  return `${verb}:${nonce}`;
}

/** Reads the value of {@link rolloutActionAnnotation}. @throws ConfigurationError saying what it must be */
export function parseRolloutAction(value: string): RolloutAction {
  const [verb, nonce] = parseAnnotationRequest(rolloutActionAnnotation, rolloutVerbs, value);
  return { verb, nonce };
}
