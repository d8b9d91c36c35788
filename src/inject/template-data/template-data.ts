import type { GoType, StructType } from '../../template/go-type.ts';
import { anyMapType, boolType, int64Type, pointerTo, stringType } from '../../template/go-type.ts';
import { typed } from '../../template/typed-value.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { messageType } from '../mesh/message-type.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { stringMethod } from './custom-go-type.ts';
import { messageGoType } from './message-go-type.ts';
import { podGoType } from './pod-go-type.ts';

/** The fields from the configuration, which pods usually share and which never change. */
export const stableDataFields: readonly (keyof TemplateData)[] = ['Values', 'MeshConfig', 'ProxyConfig'];

function text(raw: unknown, name: string): string {
  const value = isJsonObject(raw) ? raw[name] : undefined;
  return typeof value === 'string' ? value : '';
}

const typeMeta: StructType = {
  kind: 'struct',
  name: 'v1.TypeMeta',
  fields: [
    { name: 'Kind', json: 'kind', type: stringType, omitEmpty: true },
    { name: 'APIVersion', json: 'apiVersion', type: stringType, omitEmpty: true },
  ],
  methods: {
    String: stringMethod((raw) => `&TypeMeta{Kind:${text(raw, 'kind')},APIVersion:${text(raw, 'apiVersion')},}`, true),
  },
};

const namespacedName: StructType = {
  kind: 'struct',
  name: 'types.NamespacedName',
  fields: [
    { name: 'Namespace', json: 'namespace', type: stringType },
    { name: 'Name', json: 'name', type: stringType },
  ],
  methods: { String: stringMethod((raw) => `${text(raw, 'namespace')}/${text(raw, 'name')}`, false) },
};

/** Istio's SidecarTemplateData. Template authors rely on these fields. */
const fieldTypes = {
  TypeMeta: typeMeta,
  DeploymentMeta: namespacedName,
  ObjectMeta: podGoType(podStruct('v1.ObjectMeta')),
  Spec: podGoType(podStruct('v1.PodSpec')),
  ProxyConfig: pointerTo(messageGoType(messageType('istio.mesh.v1alpha1.ProxyConfig'))),
  MeshConfig: pointerTo(messageGoType(messageType('istio.mesh.v1alpha1.MeshConfig'))),
  Values: anyMapType,
  Revision: stringType,
  NativeSidecars: boolType,
  ProxyImage: stringType,
  ProxyInitImage: stringType,
  ProxyUID: int64Type,
  ProxyGID: int64Type,
  InboundTrafficPolicyMode: stringType,
  CompliancePolicy: stringType,
} satisfies Readonly<Record<string, GoType>>;

/** The data of a template, with fields in JSON form. */
export type TemplateData = Readonly<Record<keyof typeof fieldTypes, unknown>>;

const dataPointer = pointerTo({
  kind: 'struct',
  name: 'inject.SidecarTemplateData',
  fields: Object.entries(fieldTypes).map(([name, type]) => ({ name, json: name, type })),
});

/** Wraps the data as a pointer to Go's struct for the template engine. */
export function templateValue(data: TemplateData): unknown {
  return typed(dataPointer, data);
}
