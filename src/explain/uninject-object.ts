import { originalAnnotation } from '../api/names.ts';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import type { WrittenValues } from '../inject/objects/edit-text.ts';
import { type ObjectPod, podOf, workloadOfObject } from '../inject/objects/inject-object.ts';
import { objectAt, type PodTemplates } from '../inject/objects/workload-kinds.ts';
import { jsonEqual } from '../inject/patch/json-equal.ts';
import { isJsonObject, type JsonObject, setMember } from '../inject/patch/json-value.ts';
import { type InjectedBy, type Uninjected, uninjectPod } from './uninject.ts';

/** An object of a file without its injection. */
export interface UninjectedObject extends Pick<Uninjected, 'isInjected' | 'lost'> {
  readonly object: JsonObject;
  /** How the author wrote scalars of the object. */
  readonly texts: WrittenValues;
}

/**
 * Removes an injection from a workload or Pod of a file. If `inject` has recorded what the pod had
 * before, the result has it. Returns `undefined` for other objects.
 * @param by the injector; without it, the values of Istio's templates show what they added
 */
export function uninjectObject(
  object: JsonObject,
  by?: InjectedBy,
  podTemplates?: PodTemplates,
): UninjectedObject | undefined {
  const found = podOf(object, isMarkedOnJob(object), podTemplates);
  if (found === undefined) return undefined;
  const { pod, withPod } = found;
  const result = uninjectPod(pod, by, object.kind === 'Pod' ? undefined : workloadOfObject(object));
  const { isInjected, lost } = result;
  if (!isInjected) return { object, isInjected, lost, texts: [] };
  const record = recordIn(pod);
  const restored = record === undefined ? result.pod : (patched(result.pod, record) as JsonObject);
  const isBare = Object.keys(objectAt(restored, ['metadata'])).length === 0;
  const metadata = record?.emptyMetadata === true ? {} : record?.emptyMetadata;
  const original = withPod(isBare ? { ...restored, metadata } : restored);
  // A forged text might end the document, which no scalar does.
  const isText = (item: unknown): item is WrittenValues[number] =>
    Array.isArray(item) && typeof item[1] === 'string' && !/^(?:---|\.\.\.)/m.test(item[1]);
  const texts = Array.isArray(record?.texts) ? record.texts.filter(isText) : [];
  return { object: original, isInjected, lost: record === undefined ? lost : [], texts };
}

/**
 * Adds to an injected object of a file, as an annotation of its pod, what its pod had before and
 * {@link uninjectObject} would not find out: with the injector or without it.
 */
export function recordOriginal(
  before: JsonObject,
  after: JsonObject,
  by: InjectedBy,
  podTemplates?: PodTemplates,
): JsonObject {
  const [original, injected] = [podOf(before, false, podTemplates), podOf(after, false, podTemplates)];
  if (
    original === undefined ||
    injected === undefined ||
    uninjectObject(before, by, podTemplates)?.isInjected !== false
  )
    return after;
  let record: JsonObject = {};
  for (const each of [by, undefined]) {
    const inferred = podOf(uninjectObject(after, each, podTemplates)?.object ?? after, false, podTemplates);
    record = patched(record, differences(inferred?.pod ?? {}, original.pod), true) as JsonObject;
  }
  const isEmpty = Object.keys(objectAt(original.pod, ['metadata'])).length === 0;
  // A pod template with empty metadata is not one without.
  if (isEmpty && original.metadata !== undefined)
    record = { ...record, emptyMetadata: isJsonObject(original.metadata) ? true : original.metadata };
  return Object.keys(record).length === 0 ? after : withRecord(injected, record);
}

/** Adds to the record of an injected object how its author wrote scalars that were replaced. */
export function recordTexts(object: JsonObject, texts: WrittenValues, podTemplates?: PodTemplates): JsonObject {
  const found = podOf(object, false, podTemplates);
  return found === undefined ? object : withRecord(found, { texts, ...recordIn(found.pod) });
}

function withRecord({ pod, withPod }: ObjectPod, record: JsonObject): JsonObject {
  const metadata = objectAt(pod, ['metadata']);
  const annotations = { ...objectAt(metadata, ['annotations']), [originalAnnotation]: JSON.stringify(record) };
  return withPod({ metadata: { ...metadata, annotations }, spec: pod.spec });
}

function recordIn(pod: JsonObject): JsonObject | undefined {
  const { [originalAnnotation]: text } = objectAt(pod, ['metadata', 'annotations']);
  try {
    const record: unknown = JSON.parse(String(text));
    return isJsonObject(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether Istio's command has marked the job template of a CronJob, and not its pods. */
function isMarkedOnJob(object: JsonObject): boolean {
  const annotations = objectAt(object, ['spec', 'jobTemplate', 'metadata', 'annotations']);
  return object.kind === 'CronJob' && Object.hasOwn(annotations, istioKeys.status);
}

/** Returns a value for a JSON merge patch, where null removes a member: `$null` stands for null. */
function marked(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value), (_, each: unknown) => each ?? { $null: true });
}

/** Returns the JSON merge patch (RFC 7386) from one object to another. */
function differences(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [is, should] = [from, to].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined));
    if (jsonEqual(is, should)) continue;
    setMember(patch, name, isJsonObject(is) && isJsonObject(should) ? differences(is, should) : marked(should));
  }
  return patch;
}

/**
 * Applies a JSON merge patch (RFC 7386).
 * @param joins whether the target is a patch, too, whose nulls stay
 */
function patched(target: unknown, patch: unknown, joins = false): unknown {
  if (Array.isArray(patch) && !joins) return patch.map((item) => patched(undefined, item));
  if (!isJsonObject(patch)) return patch;
  if (Object.hasOwn(patch, '$null') && !joins) return null;
  const result: JsonObject = {};
  const base = isJsonObject(target) ? target : {};
  for (const [name, value] of Object.entries(base)) if (!Object.hasOwn(patch, name)) setMember(result, name, value);
  for (const [name, value] of Object.entries(patch))
    if (joins || value !== null)
      setMember(result, name, patched(Object.hasOwn(base, name) ? base[name] : undefined, value, joins));
  return result;
}
