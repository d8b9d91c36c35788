import type { StructField, ValueType } from '../kubernetes/go-types.ts';
import { StrategicMergeError } from './merge-error.ts';

/** The Go type that a value of the patch belongs to; a pointer is told apart, as error messages do. */
export interface PatchSchema {
  readonly type: ValueType;
  readonly pointer: boolean;
}

/** What the schema says of a list: the type of its items, and whether and by which key they are merged. */
export interface ListSchema {
  readonly items: PatchSchema;
  readonly merged: boolean;
  readonly mergeKey: string;
}

/** The schema of the member `name`. @throws StrategicMergeError when the type is no struct or has no such field */
export function memberSchema({ type }: PatchSchema, name: string): StructField {
  if (type.kind !== 'struct' && type.kind !== 'custom') {
    throw new StrategicMergeError(
      `merging an object in json but data type is not struct, instead is: ${kindName({ type, pointer: false })}`,
    );
  }
  const field =
    type.kind === 'struct' ? (type.byName.get(name) ?? type.byFoldedName.get(name.toLowerCase())) : undefined;
  if (field !== undefined) return field;
  const struct = type.goName.slice(type.goName.indexOf('.') + 1);
  throw new StrategicMergeError(
    `unable to find api field in struct ${struct} for the json field ${JSON.stringify(name)}`,
  );
}

/** The schema of the member `name`, whose values are lists. @throws StrategicMergeError when it is no list */
export function listSchema(schema: PatchSchema, name: string): ListSchema {
  const { type, pointer, patchStrategy, mergeKey } = memberSchema(schema, name);
  const merge = { merged: patchStrategy === 'merge', mergeKey };
  if (type.kind === 'list') return { items: { type: type.element, pointer: type.elementPointer }, ...merge };
  // A pointer may point to a list, so Kubernetes looks no further.
  if (pointer) return { items: { type, pointer: false }, ...merge };
  throw new StrategicMergeError(`expected slice or array type, but got: ${kindName(schema)}`);
}

/** What Go's reflect.Kind calls the type. */
export function kindName({ type, pointer }: PatchSchema): string {
  if (pointer) return 'ptr';
  return type.kind === 'list' ? 'slice' : type.kind;
}
