import type { StructField, ValueType } from '../kubernetes/go-types.ts';
import { StrategicMergeError } from './merge-error.ts';

/** The Go type of a patch value; error messages distinguish pointers. */
export interface PatchSchema {
  readonly type: ValueType;
  readonly pointer: boolean;
}

/** The schema of a list: the item type, whether items are merged, and the merge key. */
export interface ListSchema {
  readonly items: PatchSchema;
  readonly merged: boolean;
  readonly mergeKey: string;
}

/** Returns the schema of a member. @throws StrategicMergeError if the type has no such field */
export function memberSchema({ type }: PatchSchema, name: string): StructField {
  if (type.kind !== 'struct' && type.kind !== 'custom') {
    throw new StrategicMergeError(
      `merging an object in json but data type is not struct, instead is: ${patchKindName({ type, pointer: false })}`,
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

/** Returns the schema of a list member. @throws StrategicMergeError if it is not a list */
export function listSchema(schema: PatchSchema, name: string): ListSchema {
  const { type, pointer, patchStrategy, mergeKey } = memberSchema(schema, name);
  const merge = { merged: patchStrategy === 'merge', mergeKey };
  if (type.kind === 'list') return { items: { type: type.element, pointer: type.elementPointer }, ...merge };
  // Kubernetes does not check pointers, which may point to a list.
  if (pointer) return { items: { type, pointer: false }, ...merge };
  throw new StrategicMergeError(`expected slice or array type, but got: ${patchKindName(schema)}`);
}

/** Returns Go's reflect.Kind of the type. */
export function patchKindName({ type, pointer }: PatchSchema): string {
  if (pointer) return 'ptr';
  return type.kind === 'list' ? 'slice' : type.kind;
}
