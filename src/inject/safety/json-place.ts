import type { StructField, ValueType } from '../kubernetes/go-types.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';

const podParts: Readonly<Record<string, ValueType>> = {
  ObjectMeta: podStruct('v1.ObjectMeta'),
  Spec: podStruct('v1.PodSpec'),
};
const ownFields: Readonly<Record<string, string>> = {
  Name: 'name',
  Namespace: 'namespace',
  APIVersion: 'apiVersion',
  Kind: 'kind',
};

/**
 * The JSON members that a template's names lead to, from the root of the data: `Spec`,
 * `Containers`, `*`, `Name` → `Spec`, `containers`, `*`, `name`. They end where a name stands for
 * no member, such as a method's: then all below is meant. Only a value of the pod has a `type`.
 */
export function jsonPlace(names: readonly string[]): { readonly place: readonly string[]; readonly type?: ValueType } {
  const [object = '', ...rest] = names;
  const result = [object];
  const start = podParts[object];
  if (start === undefined) {
    const member = ownFields[rest[0] ?? ''];
    return { place: member === undefined ? result : [...result, member] };
  }
  let type: ValueType = start;
  for (const name of rest) {
    if (type.kind === 'struct') {
      const field: StructField | undefined = type.fields.find(({ goName }) => goName === name);
      if (field !== undefined) {
        result.push(field.name);
        type = field.type;
      } else if (!type.fields.some(({ embeddedIn }) => embeddedIn.includes(name))) {
        return { place: result };
      }
    } else if (type.kind === 'list' || type.kind === 'map') {
      result.push(type.kind === 'list' ? '*' : name);
      type = type.kind === 'list' ? type.element : type.value;
    } else {
      return { place: result };
    }
  }
  return { place: result, type };
}
