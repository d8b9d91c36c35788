import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';

/** How lists (by default atomic) and objects (by default structs) merge; or the keys of a list. */
type MergeRule = 'atomic' | 'map' | 'set' | readonly string[];

/** What the API server does with objects of a kind, as far as the operator uses the kind. */
export interface StoredKind {
  /** The rules by path; `[]` stands for an item of a list. */
  readonly merge: Readonly<Record<string, MergeRule>>;
  /** The fields whose change raises metadata.generation; without any, there is no generation. */
  readonly generation: readonly string[];
  /** The fields that an update of the object itself cannot change. */
  readonly kept: readonly string[];
  readonly isCustom: boolean;
  readonly createsOnUpdate: boolean;
  /** The fields that the empty Go value of the kind has. */
  readonly empty: Json;
}
type Json = Readonly<Record<string, unknown>>;

const named = ['name'];
const metadataAt = (path: string): StoredKind['merge'] => ({
  [`${path}.labels`]: 'map', [`${path}.annotations`]: 'map', [`${path}.finalizers`]: 'set',
  [`${path}.ownerReferences`]: ['uid'], [`${path}.ownerReferences[]`]: 'atomic',
});
const podAt = (path: string): StoredKind['merge'] => ({
  ...Object.fromEntries(['containers', 'initContainers', 'schedulingGates', 'volumes'].map((each) => [`${path}.${each}`, named])),
  [`${path}.nodeSelector`]: 'atomic',
});
const podTemplate = { metadata: {}, spec: { containers: null } };
const workload: Partial<StoredKind> = {
  merge: { ...metadataAt('spec.template.metadata'), ...podAt('spec.template.spec'), 'spec.selector': 'atomic' },
  kept: ['status'],
  empty: { spec: { selector: null, strategy: {}, updateStrategy: {}, template: podTemplate } },
};
const webhooks: Partial<StoredKind> = {
  merge: { webhooks: named, 'webhooks[].matchConditions': named, 'webhooks[].namespaceSelector': 'atomic', 'webhooks[].objectSelector': 'atomic' },
  generation: ['webhooks'],
};
const custom: Partial<StoredKind> = { merge: { 'status.conditions': ['type'] }, kept: ['status'], isCustom: true };
const servicePorts = { 'spec.ports': ['port', 'protocol'], 'spec.selector': 'atomic' } as const;
const spec = { empty: { spec: {} } };

const kinds: Readonly<Record<string, Partial<StoredKind>>> = {
  configmaps: { merge: { data: 'map', binaryData: 'map' }, generation: [] },
  secrets: { merge: { data: 'map' }, generation: [] },
  services: { merge: servicePorts, generation: [], kept: ['status'], createsOnUpdate: true, ...spec },
  roles: { generation: [], createsOnUpdate: true, empty: { rules: null } },
  leases: { generation: [], createsOnUpdate: true, ...spec },
  events: { merge: { regarding: 'atomic' }, generation: [], createsOnUpdate: true, empty: { regarding: {} } },
  pods: { merge: podAt('spec'), kept: ['status'], empty: { spec: podTemplate.spec } },
  deployments: { ...workload, generation: ['spec', 'metadata.annotations'] },
  ...{ statefulsets: workload, daemonsets: workload },
  ...{ mutatingwebhookconfigurations: webhooks, validatingwebhookconfigurations: webhooks },
  mutatingadmissionpolicies: { merge: { 'spec.matchConditions': named, 'spec.matchConstraints': 'atomic' }, ...spec },
  mutatingadmissionpolicybindings: { merge: { 'spec.matchResources': 'atomic' }, ...spec },
  certificatesigningrequests: { generation: [], kept: ['spec', 'status'], ...spec },
  ...{ injectorconfigs: custom, revisiontags: custom, certificates: custom },
};

export function storedKind(plural: string): StoredKind {
  const common = { generation: ['spec'], kept: [], isCustom: false, createsOnUpdate: false, empty: {} };
  const known = kinds[plural] ?? {};
  return { ...common, ...known, merge: { ...metadataAt('metadata'), ...known.merge } };
}

const serverFields = ['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'generation'];
export const pick = (from: object | undefined, fields: readonly string[]): Json =>
  Object.fromEntries(fields.map((field) => [field, (from as Json | undefined)?.[field]]));

/**
 * Returns the object that a request stores, without changes that the request cannot make.
 * @throws ApiError 422 if the request changes an immutable field
 */
export function storedObject(kind: StoredKind, before: KubernetesObject | undefined, object: KubernetesObject, subresource?: string): KubernetesObject {
  const { managedFields } = object.metadata;
  const kept = pick(before, before === undefined ? kind.kept.filter((field) => field === 'status') : kind.kept);
  const whole = { ...object, ...kept, metadata: { ...object.metadata, ...pick(before?.metadata, serverFields) } };
  const ofStatus = { ...before, status: object.status, metadata: { ...before?.metadata, managedFields } } as KubernetesObject;
  const stored = withGeneration(kind, before, subresource === 'status' ? ofStatus : whole);
  const isChanged = (field: string): boolean => before !== undefined && !isDeepStrictEqual(before[field], stored[field]);
  const frozen = before?.immutable === true ? ['immutable', 'data', 'binaryData'].filter(isChanged) : [];
  const forbidden = 'Forbidden: field is immutable when `immutable` is set';
  const causes = frozen.map((field) => ({ reason: 'FieldValueForbidden', message: forbidden, field }));
  const message = `Invalid value: ${JSON.stringify(stored.type)}: field is immutable`;
  if (object.kind === 'Secret' && isChanged('type')) causes.push({ reason: 'FieldValueInvalid', message, field: 'type' });
  if (causes.length === 0) return stored;
  const list = causes.map((each) => `${each.field}: ${each.message}`).join(', ');
  throw new ApiError({ code: 422, reason: 'Invalid', message: `${object.kind} "${object.metadata.name}" is invalid: ${list}`, causes });
}

/** Sets metadata.generation. Changes of labels, annotations or status do not raise it. */
export function withGeneration(kind: StoredKind, before: KubernetesObject | undefined, object: KubernetesObject): KubernetesObject {
  const valueAt = (value: unknown, path: string): unknown => path.split('.').reduce((part, name) => (part as Json | undefined)?.[name], value);
  const raising = ['metadata.deletionTimestamp', ...kind.generation];
  const isRaised = before !== undefined && raising.some((path) => !isDeepStrictEqual(valueAt(before, path), valueAt(object, path)));
  const generation = ((before ?? object).metadata.generation ?? 1) + (isRaised ? 1 : 0);
  return { ...object, metadata: { ...object.metadata, ...(kind.generation.length > 0 && { generation }) } };
}

const omittedIfEmpty = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences', 'data', 'binaryData', 'schedulingGates']);

/** Copies an object, without the empty maps and lists that Go does not encode. */
export function tidied(object: unknown): KubernetesObject {
  const isVoid = (name: string, part: unknown): boolean => part === null || (omittedIfEmpty.has(name) && Object.keys(part as object).length === 0);
  return JSON.parse(JSON.stringify(object), (name, part: unknown) => (isVoid(name, part) ? undefined : part)) as KubernetesObject;
}
