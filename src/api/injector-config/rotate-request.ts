import { parseAnnotationRequest } from './annotation-request.ts';
import { ownName } from '../own-names.ts';

/** The annotation of an InjectorConfig with which a user requests a renewal: `<target>:<nonce>`. */
export const rotateAnnotation = ownName('rotate');

/** `authority-force` also removes the old authority before its last certificate expires. */
export const rotateTargets = ['leaf', 'authority', 'authority-force'] as const;
export type RotateTarget = (typeof rotateTargets)[number];

/** A renewal request. The operator answers each nonce once. */
export interface RotateRequest {
  readonly target: RotateTarget;
  /** 1 to 63 characters of A-Z, a-z, 0-9 and `-`. */
  readonly nonce: string;
}

export function formatRotateRequest({ target, nonce }: RotateRequest): string {
  return `${target}:${nonce}`;
}

/** Parses the value of {@link rotateAnnotation}. @throws ConfigurationError with the valid form */
export function parseRotateRequest(value: string): RotateRequest {
  const [target, nonce] = parseAnnotationRequest(rotateAnnotation, rotateTargets, value);
  return { target, nonce };
}
