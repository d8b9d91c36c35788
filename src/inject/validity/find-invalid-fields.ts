import { listOf } from '../kubernetes/admission-pod.ts';
import type { PodStructType, ValueType } from '../kubernetes/go-types.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { checks, type WholePod } from './checks.ts';
import { checkPodResources } from './resource-checks.ts';
import { checkField } from './field-rules.ts';
import { type InvalidField, longestText, Place } from './place.ts';

const [podMetadata, podSpec] = [podStruct('v1.ObjectMeta'), podStruct('v1.PodSpec')];
const named: ReadonlySet<string> = new Set(['Container', 'Volume']);

/**
 * Finds the fields because of which the API server refuses to create a pod, without a cluster:
 * what templates plausibly get wrong, by the rules of Kubernetes 1.36 after its defaults
 * (k8s.io/kubernetes/pkg/apis/core/validation, ValidatePodCreate). Says nothing where a rule
 * depends on the version or the cluster. Never throws, takes linear time, and returns a bounded
 * number of findings.
 * @param pod a Pod, or the metadata and spec of a pod template
 */
export function findInvalidFields(pod: JsonObject): InvalidField[] {
  const found: InvalidField[] = [];
  const spec = objectAt(pod, ['spec']);
  const claims = new Set(listOf(spec.resourceClaims).map(({ name }) => name));
  const whole: WholePod = { spec, volumes: new Set(), claims };
  checkStruct(podMetadata, objectAt(pod, ['metadata']), new Place('metadata', found), whole);
  checkStruct(podSpec, spec, new Place('spec', found), whole);
  return found;
}

function checkStruct({ localName, fields }: PodStructType, value: JsonObject, place: Place, pod: WholePod): void {
  checks[localName]?.(value, place, pod);
  for (const field of fields) {
    const member = value[field.name];
    const at = place.at(field.name);
    checkField(localName, field, member, at);
    if (member !== undefined) checkMember(field.type, member, at, pod);
  }
}

function checkMember(type: ValueType, value: unknown, place: Place, pod: WholePod): void {
  if (type.kind === 'struct' && isJsonObject(value)) checkStruct(type, value, place, pod);
  if (type.kind !== 'list' || type.element.kind !== 'struct' || !Array.isArray(value)) return;
  const { element } = type;
  for (const [index, item] of value.entries()) {
    if (!isJsonObject(item)) continue;
    const before = place.findings;
    checkStruct(element, item, place.item(index, named.has(element.localName) ? item.name : undefined), pod);
    if (element.localName === 'Volume' && place.findings === before) pod.volumes.add(item.name);
  }
}

/** Finds only what does not fit into the resources of a pod itself: 0.05 ms for a usual pod. */
export function findMisfits(pod: JsonObject): InvalidField[] {
  const found: InvalidField[] = [];
  checkPodResources(objectAt(pod, ['spec']), new Place('spec', found));
  return found;
}

/** Returns the invalid fields of an injected pod that the pod did not have before. */
export function introducedFields(before: JsonObject, after: JsonObject, find = findInvalidFields): InvalidField[] {
  const found = find(after);
  const known = new Map<string, number>();
  for (const { key } of found.length === 0 ? [] : find(before)) known.set(key, (known.get(key) ?? 0) + 1);
  return found.filter(({ key }) => {
    const left = known.get(key) ?? 0;
    known.set(key, left - 1);
    return left <= 0;
  });
}

/** The maximum number of fields that a message names. */
const mostNamed = 3;

/**
 * Says why the API server refuses an injected pod; undefined if the injection is not the cause.
 * @param find finds the invalid fields to consider
 */
export function refusalOf(before: JsonObject, after: JsonObject, find = findInvalidFields): string | undefined {
  const found = introducedFields(before, after, find);
  if (found.length === 0) return undefined;
  const messages = found.slice(0, mostNamed).map(({ message }) => message);
  const rest = found.length > mostNamed ? [`and ${found.length - mostNamed} more`] : [];
  const advice = found.some(({ message }) => ofPodResources.test(message)) ? adviceOn(before, after) : [];
  return `the API server refuses the injected pod: ${[...messages, ...rest, ...advice].join('; ')}`;
}

/** Matches the messages about the resources of a pod itself. */
const ofPodResources = /^spec\.resources\.|must be less than or equal to pod limits/;

/** Says what to do if containers do not fit into the resources of the pod itself. */
function adviceOn(before: JsonObject, after: JsonObject): string[] {
  const namesIn = ({ spec }: JsonObject): string[] =>
    isJsonObject(spec) ? [spec.containers, spec.initContainers].flatMap(listOf).map(({ name }) => String(name)) : [];
  const known = namesIn(before);
  const added = namesIn(after).filter((name) => !known.includes(name));
  const named = JSON.stringify(added.slice(0, mostNamed).join(', ').slice(0, longestText));
  const who = added.length === 0 ? 'the injection' : `container ${named}`;
  return [`spec.resources has no room for ${who}; set injection.podResources: Add, or increase spec.resources`];
}
