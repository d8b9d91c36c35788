import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import type { Random } from '../../../scripts/template-recorder/random.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';

export type Json = Record<string, unknown>;

/** A kind, and the fields that random requests set; see subjects.yaml. */
export interface Subject {
  apiVersion: string;
  kind: string;
  whole: Json;
  parts: Json[];
  verbs?: Operation['verb'][];
  isListed?: boolean;
  ignored?: string[];
}

/** A request. Each API server has its own resourceVersions and uids. */
export interface Operation {
  verb: 'create' | 'apply' | 'replace' | 'patch' | 'status' | 'delete';
  fields: Json;
  metadata: Json;
  version: 'none' | 'current' | 'old';
  uid: 'none' | 'current' | 'wrong';
  fieldManager: string;
  force: boolean;
  dryRun: boolean;
}

type Documents = [metadata: Record<'usual' | 'patch' | 'deleted', Json[]>, ...subjects: Subject[]];
const text = readFileSync(join(import.meta.dirname, 'subjects.yaml'), 'utf8');
const [metadata, ...zero] = loadAll(text.replaceAll('$V', '0')) as Documents;
const [, ...one] = loadAll(text.replaceAll('$V', '1')) as Documents;
/** Each subject twice, with other values. */
export const subjects = zero.map((subject, index): [Subject, Subject] => [subject, one[index]!]);

const usual: Operation['verb'][] = ['create', 'apply', 'apply', 'apply', 'replace', 'patch', 'delete'];

/** Returns a random request. It depends on the live object only where others would not be valid. */
export function randomOperation(random: Random, both: [Subject, Subject], live?: KubernetesObject): Operation {
  const { verbs = usual, isListed = false, whole, parts } = random.pick(both);
  const creating = verbs.filter((each) => each === 'create' || each === 'apply');
  const verb = random.pick(live === undefined && random.chance(0.6) ? creating : verbs);
  const [isApply, isPatch, isStatus] = [verb === 'apply', verb === 'patch', verb === 'status'];
  // Only one manager applies whole objects, so that no required field is removed.
  const fieldManager = isApply && live === undefined ? 'a' : random.pick(['a', 'a', 'b', 'c']);
  const isPartial = isStatus || (isPatch && !isListed) || (isApply && fieldManager !== 'a');
  const chosen = parts.filter((part) => random.chance(0.35) && (!isStatus || 'status' in part));
  const isDeleted = live?.metadata.deletionTimestamp !== undefined;
  // An apply that empties a map of a custom resource stores null, which only the next write shows.
  const isBare = isStatus || (isApply && verbs.includes('status'));
  return {
    verb,
    fields: [...(isPartial ? [] : [whole]), ...chosen].reduce(overlaid, {}),
    metadata: isBare ? {} : random.pick(isPatch ? metadata[isDeleted ? 'deleted' : 'patch'] : metadata.usual),
    version: verb === 'create' ? 'none' : random.pick(['none', 'current', 'old']),
    uid: random.pick(['none', 'current', isPatch || (isApply && live !== undefined) ? 'none' : 'wrong']),
    fieldManager,
    force: (isApply || isStatus) && random.chance(0.5),
    dryRun: random.chance(0.05),
  };
}

/** Merges two values; lists, by their indexes. */
function overlaid<T>(below: T, above: unknown): T {
  if (typeof below !== 'object' || below === null || typeof above !== 'object' || above === null) return above as T;
  const merged = Object.entries(above).map(([name, value]) => [name, overlaid((below as Json)[name], value)] as const);
  const all = { ...below, ...Object.fromEntries(merged) };
  return (Array.isArray(below) ? Object.values(all) : all) as T;
}
