import type { GoField, GoType, StructType as GoStruct } from '../../template/go-type.ts';
import { pointerTo } from '../../template/go-type.ts';
import type { StructField, StructType, ValueType } from '../kubernetes/go-types.ts';
import { customGoType, stringMethod } from './custom-go-type.ts';
import { describeStruct, groupEmbedded } from './describe-struct.ts';

const structs = new Map<string, GoStruct>();

/** A struct of a pod as templates see it: fields by their Go names, embedded structs, and the `String` method that Kubernetes generates. */
export function podGoType(type: StructType): GoStruct {
  const known = structs.get(type.goName);
  if (known !== undefined) return known;
  let fields: readonly GoField[] | undefined;
  const struct: GoStruct = {
    kind: 'struct',
    name: type.goName,
    // Read when first needed: structs refer to each other in circles.
    get fields() {
      return (fields ??= goFields(type.fields, 0));
    },
    methods: { String: stringMethod((raw) => describeStruct(type, raw), true) },
  };
  structs.set(type.goName, struct);
  return struct;
}

/** The fields of a struct; those that an embedded struct brings are fields of that one. */
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

/** A value of a pod as templates see it. */
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

/** Only types that are declared have a name; `[]string` and `map[string]string` are what they are. */
function nameOf(goName: string): { name?: string } {
  return goName.startsWith('[]') || goName.startsWith('map[') ? {} : { name: goName };
}
