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
 * Converts template names to a JSON path: `Spec`, `Containers`, `*`, `Name` becomes `Spec`,
 * `containers`, `*`, `name`. Stops at a name that is not a field (such as a method) and then
 * includes everything below. Only values of the pod have a `type`.
 */
export function jsonPath(names: readonly string[]): { readonly path: readonly string[]; readonly type?: ValueType } {
  const [object = '', ...rest] = names;
  const result = [object];
  const start = podParts[object];
  if (start === undefined) {
    const member = ownFields[rest[0] ?? ''];
    return { path: member === undefined ? result : [...result, member] };
  }
  let type: ValueType = start;
  for (const name of rest) {
    if (type.kind === 'struct') {
      const field: StructField | undefined = type.fields.find(({ goName }) => goName === name);
      if (field !== undefined) {
        result.push(field.name);
        type = field.type;
      } else if (!type.fields.some(({ embeddedIn }) => embeddedIn.includes(name))) {
        return { path: result };
      }
    } else if (type.kind === 'list' || type.kind === 'map') {
      result.push(type.kind === 'list' ? '*' : name);
      type = type.kind === 'list' ? type.element : type.value;
    } else {
      return { path: result };
    }
  }
  return { path: result, type };
}
