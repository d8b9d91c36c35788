import type { AdmissionRequest } from './admission-request.ts';

/** The object's name for people: its own, or what the one that is yet to be generated begins with; empty when it has neither. */
export function nameForPeople({ name, object }: AdmissionRequest): string {
  if (name !== '' || typeof object !== 'object' || object === null || !('metadata' in object)) return name;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('generateName' in metadata)) return name;
  return typeof metadata.generateName === 'string' ? metadata.generateName : name;
}
