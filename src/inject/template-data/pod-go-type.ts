import type { GoField, GoType, StructType as GoStruct } from '../../template/go-type.ts';
import { pointerTo } from '../../template/go-type.ts';
import type { StructField, PodStructType, ValueType } from '../kubernetes/go-types.ts';
import { customGoType, stringMethod } from './custom-go-type.ts';
import { describeStruct, groupEmbedded } from './describe-struct.ts';

const structs = new Map<string, GoStruct>();

/** Returns the template view of a pod struct, with Kubernetes' generated `String` method. */
export function podGoType(type: PodStructType): GoStruct {
  const known = structs.get(type.goName);
  if (known !== undefined) return known;
  let fields: readonly GoField[] | undefined;
  const struct: GoStruct = {
    kind: 'struct',
    name: type.goName,
    // Lazy: structs refer to each other in cycles.
    get fields() {
      return (fields ??= goFields(type.fields, 0));
    },
    methods: { String: stringMethod((raw) => describeStruct(type, raw), true) },
  };
  structs.set(type.goName, struct);
  return struct;
}

/** Returns the fields of a struct; fields of an embedded struct belong to that struct. */
function goFields(fields: readonly StructField[], depth: number): GoField[] {
  return groupEmbedded(fields, depth).flatMap(({ embedded, group }): GoField[] => {
    if (embedded === undefined) return group.map(goField);
    const type: GoStruct = { kind: 'struct', name: `v1.${embedded}`, fields: goFields(group, depth + 1) };
    return [{ name: embedded, json: '', type, inline: true }];
  });
}

function goField(field: StructField): GoField {
  const type = valueGoType(field.type);
  return {
    name: field.goName,
    json: field.name,
    type: field.pointer ? pointerTo(type) : type,
    omitEmpty: field.omitEmpty,
    omitZero: field.omitZero,
  };
}

export function valueGoType(type: ValueType): GoType {
  switch (type.kind) {
    case 'struct':
      return podGoType(type);
    case 'list':
      return {
        kind: 'slice',
        ...nameOf(type.goName),
        get element() {
          const element = valueGoType(type.element);
          return type.elementPointer ? pointerTo(element) : element;
        },
      };
    case 'map':
      return {
        kind: 'map',
        ...nameOf(type.goName),
        key: { kind: 'string', ...(type.goName === 'v1.ResourceList' && { name: 'v1.ResourceName' }) },
        element: valueGoType(type.value),
      };
    case 'custom':
      return customGoType(type);
    default:
      return type.goName === type.kind ? { kind: type.kind } : { kind: type.kind, name: type.goName };
  }
}

/** Returns the name of a declared type; `[]string` and `map[string]string` have no name. */
function nameOf(goName: string): { name?: string } {
  return goName.startsWith('[]') || goName.startsWith('map[') ? {} : { name: goName };
}
