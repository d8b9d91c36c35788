import type { ValueType } from '../kubernetes/go-types.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { refusalOf } from '../validity/find-invalid-fields.ts';

/** What templates print for a missing value, as in Go. */
const noValue = '<no value>';

/**
 * Says why an injected pod cannot run because of its injection: an image, a name or a key of a
 * merged list has no value, which the API server accepts in some fields; or the API server refuses
 * it. Returns undefined if the pod is usable, or was unusable before.
 */
export function whyUnusable(before: JsonObject, after: JsonObject) {
  const missing = whatHasNoValue(before, after);
  const message = refusalOf(before, after) ?? missing;
  return message === undefined ? undefined : { message, isByServer: missing === undefined };
}

function whatHasNoValue(before: JsonObject, after: JsonObject): string | undefined {
  const withoutIndexes = (path: string): string => path.replace(/\[\d+\]/g, '');
  const known = new Set(keysWithoutValue(before).map(withoutIndexes));
  const path = keysWithoutValue(after).find((each) => !known.has(withoutIndexes(each)));
  if (path === undefined) return undefined;
  return `${path} of the injected pod is empty or contains "${noValue}": a template reads a missing field; correct its name or set it`;
}

/** Returns the paths of images, names and merge keys in a pod's spec that have no value. */
function keysWithoutValue({ spec }: JsonObject): string[] {
  const found: string[] = [];
  const look = (type: ValueType, value: unknown, path: string, mergeKey: string): void => {
    if (type.kind === 'list' && Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(type.element, item, `${path}[${index}]`, mergeKey);
    } else if (type.kind === 'struct' && isJsonObject(value)) {
      for (const { name, type: member, mergeKey: next } of type.fields) {
        const own = value[name];
        const isKey = name === mergeKey || name === 'name' || name === 'image';
        const isEmpty = name === mergeKey && (own === undefined || own === null || own === '');
        if (isEmpty || (isKey && typeof own === 'string' && own.includes(noValue))) found.push(`${path}.${name}`);
        look(member, own, `${path}.${name}`, next);
      }
    }
  };
  look(podStruct('v1.PodSpec'), spec, 'spec', '');
  return found;
}
