import { group } from './injector-config/injector-config.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';

/** Annotation with which an InjectorConfig or RevisionTag may be deleted although it is in use: `"true"`. */
export const forceDeleteAnnotation = `${group}/force-delete`;

/** Whether somebody has said that it may be deleted whoever uses it. */
export function isDeletionForced({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return metadata.annotations?.[forceDeleteAnnotation] === 'true';
}
