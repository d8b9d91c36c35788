import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../inject/patch/json-value.ts';

/** The handlers of probes and hooks. An injector may replace one, to lead past the sidecar. */
const handlers = ['httpGet', 'tcpSocket', 'grpc', 'exec'];
const probes = new Set(['livenessProbe', 'readinessProbe', 'startupProbe', 'postStart', 'preStop']);

/**
 * Returns the paths of values that one pod has and the other has not. Elements of lists are found
 * by name or mount path, else as the first that contains all values. Additions are no loss.
 */
export function lostFields(before: unknown, after: unknown, path = ''): string[] {
  if (Array.isArray(before)) return lostElements(before, Array.isArray(after) ? after : [], path);
  if (!isJsonObject(before)) return isDeepStrictEqual(before, after) ? [] : [path];
  if (!isJsonObject(after)) return [path];
  return Object.entries(before).flatMap(([key, value]) => {
    const place = path === '' ? key : `${path}.${key}`;
    if (!probes.has(key) || !isJsonObject(value)) return lostFields(value, after[key], place);
    const changed = isJsonObject(after[key]) ? after[key] : {};
    if (!handlers.some((handler) => changed[handler] !== undefined)) return [place];
    const others = Object.entries(value).filter(([name]) => !handlers.includes(name));
    return lostFields(Object.fromEntries(others), changed, place);
  });
}

function lostElements(before: readonly unknown[], after: readonly unknown[], path: string): string[] {
  let from = 0;
  return before.flatMap((element, index) => {
    const key = keyOf(element);
    if (key === undefined) {
      return after.some((each) => lostFields(element, each).length === 0) ? [] : [`${path}[${index}]`];
    }
    const place = `${path}[${key}]`;
    const found = after.findIndex((each) => keyOf(each) === key);
    if (found < 0) return [place];
    const isInOrder = found >= from;
    from = found + 1;
    return [...(isInOrder ? [] : [`${place} (its order)`]), ...lostFields(element, after[found], place)];
  });
}

function keyOf(element: unknown): string | undefined {
  if (!isJsonObject(element)) return undefined;
  return [element['name'], element['mountPath']].find((each) => typeof each === 'string');
}
