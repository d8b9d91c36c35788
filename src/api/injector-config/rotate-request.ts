import { parseAnnotationRequest } from './annotation-request.ts';
import { ownName } from '../own-names.ts';

/** Annotation of an InjectorConfig by which a person asks for a renewal: `<what>:<nonce>`. */
export const rotateAnnotation = ownName('rotate');

/** What can be asked for; `authority-force` also drops the old authority before its last certificate has expired. */
export const rotateTargets = ['leaf', 'authority', 'authority-force'] as const;
export type RotateTarget = (typeof rotateTargets)[number];

/** One request; a nonce that was answered once is not answered again. */
export interface RotateRequest {
  readonly target: RotateTarget;
  /** 1 to 63 characters of A-Z, a-z, 0-9 and `-`. */
  readonly nonce: string;
}

/** The value of {@link rotateAnnotation} that asks for this. */
export function formatRotateRequest({ target, nonce }: RotateRequest): string {
  return `${target}:${nonce}`;
}

/** Reads the value of {@link rotateAnnotation}. @throws ConfigurationError saying what it must be */
export function parseRotateRequest(value: string): RotateRequest {
  const [target, nonce] = parseAnnotationRequest(rotateAnnotation, rotateTargets, value);
  return { target, nonce };
}
