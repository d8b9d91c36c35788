import { podNamedTypes, podStructs } from './pod-types.ts';
import { readGoTypes } from './read-go-types.ts';

/** The struct of that Go name among those a pod is made of, e.g. `v1.Container`. @throws Error for a name that is not among them */
export const podStruct = readGoTypes(podStructs, podNamedTypes);

/** corev1.Pod. */
export const podType = podStruct('v1.Pod');
