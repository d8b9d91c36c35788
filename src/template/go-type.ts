/**
 * Descriptors of Go types. A template sees plain JSON through them as Go would see the decoded struct: fields, zero
 * values, methods. They are immutable; a type that refers to itself uses a getter: `get element() { return probe; }`.
 */

/** Go's integer kinds. A value of kind `int` is a `bigint` at run time, every other kind an `Integer`. */
export type IntegerKind =
  'int' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint' | 'uint8' | 'uint16' | 'uint32' | 'uint64';

/** A Go type as templates can tell it apart from another. */
export type GoType = ScalarType | SliceType | MapType | PointerType | StructType | InterfaceType | ReflectedType;

/** What every type may carry besides its shape. */
export interface TypeBehaviour {
  /** The name as Go prints it in errors and by `%T`, e.g. `v1.Protocol`. Absent for unnamed types such as `[]string`. */
  readonly name?: string;
  /** Methods that templates may call, by Go name. A `String` method is used for printing, as fmt does. */
  readonly methods?: Readonly<Record<string, GoMethod>>;
  /** Turns JSON into the form that `fields` or the kind describe: `"90s"` → `{ seconds: '90' }`. Runs on every access. */
  readonly decode?: (raw: unknown) => unknown;
  /** Encodes the JSON form as JSON text (Go's MarshalJSON). `null` and absent values of a pointer never reach it. */
  readonly toJson?: (raw: unknown) => string;
  /** Encodes the JSON form as protobuf JSON text; marks the type as a protobuf message. Used by Istio's `protoToJSON`. */
  readonly protoToJson?: (raw: unknown) => string;
}

/** `string`, `bool`, float64 and integers, named (`v1.Protocol`) or not. */
export interface ScalarType extends TypeBehaviour {
  readonly kind: 'string' | 'bool' | 'float64' | IntegerKind;
}

/** `[]Element`. */
export interface SliceType extends TypeBehaviour {
  readonly kind: 'slice';
  readonly element: GoType;
}

/** `map[Key]Element`; keys are of kind string. */
export interface MapType extends TypeBehaviour {
  readonly kind: 'map';
  readonly key: GoType;
  readonly element: GoType;
}

/** `*Element`. The JSON form of nil is `null` or absence. Name, methods and hooks are its element's. */
export interface PointerType extends TypeBehaviour {
  readonly kind: 'pointer';
  readonly element: GoType;
}

/** A struct: a field that is not listed does not exist, and reading it is an error. */
export interface StructType extends TypeBehaviour {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly GoField[];
}

/** `interface {}`: whatever the JSON holds. As a parameter's type it may demand methods. */
export interface InterfaceType extends TypeBehaviour {
  readonly kind: 'interface';
  /** Whether values of a type have the methods; absent for `interface {}`. */
  readonly accepts?: (type: GoType) => boolean;
}

/** `reflect.Value`: a parameter of a builtin that wants its argument as it is, missing or not. Never the type of data. */
export interface ReflectedType extends TypeBehaviour {
  readonly kind: 'reflected';
}

/** A field of a struct, in Go's declaration order. */
export interface GoField {
  /** The Go name, as templates write it: `ReadinessProbe`. */
  readonly name: string;
  /** The JSON key: `readinessProbe`. Ignored when `inline`. */
  readonly json: string;
  readonly type: GoType;
  /** `json:",omitempty"`: false, 0, "", nil and empty maps and slices are left out of JSON. */
  readonly omitEmpty?: boolean;
  /** `json:",omitzero"`: the zero value is left out of JSON, also of a struct. */
  readonly omitZero?: boolean;
  /** An embedded struct: its fields are the parent's, in JSON (`json:",inline"`) and in templates. */
  readonly inline?: boolean;
}

/** A method of a type. */
export interface GoMethod {
  readonly parameters?: readonly GoType[];
  /** The last parameter's type is that of each further argument. */
  readonly variadic?: boolean;
  /** The type through which the returned plain value is seen. */
  readonly result: GoType;
  /** Declared on `*T`: callable on pointers (nil too) and on addressable values only. Protobuf getters are. */
  readonly pointerReceiver?: boolean;
  /**
   * @param raw The receiver's JSON form; `null` for a nil pointer.
   * @param args Template values, already converted to `parameters`.
   * @returns A plain value in the JSON form of `result`. An error thrown here fails the template ("error calling …").
   */
  readonly call: (raw: unknown, ...args: readonly unknown[]) => unknown;
}

export const anyType: InterfaceType = { kind: 'interface' };
export const stringType: ScalarType = { kind: 'string' };
export const boolType: ScalarType = { kind: 'bool' };
export const intType: ScalarType = { kind: 'int' };
export const int32Type: ScalarType = { kind: 'int32' };
export const int64Type: ScalarType = { kind: 'int64' };
export const uint32Type: ScalarType = { kind: 'uint32' };
export const float64Type: ScalarType = { kind: 'float64' };
export const anySliceType: SliceType = { kind: 'slice', element: anyType };
export const stringSliceType: SliceType = { kind: 'slice', element: stringType };
export const anyMapType: MapType = { kind: 'map', key: stringType, element: anyType };
export const stringMapType: MapType = { kind: 'map', key: stringType, element: stringType };
export const reflectedType: ReflectedType = { kind: 'reflected' };

/** `*element`. */
export function pointerTo(element: GoType): PointerType {
  return { kind: 'pointer', element };
}

/** `[]element`. */
export function sliceOf(element: GoType): SliceType {
  return { kind: 'slice', element };
}

/** `map[string]element`. */
export function mapOf(element: GoType): MapType {
  return { kind: 'map', key: stringType, element };
}

const typeNames = new WeakMap<GoType, string>();

/** The type as Go prints it: `map[string]interface {}`, `*v1.Probe`. Two types are the same when their names are. */
export function typeName(type: GoType): string {
  const known = typeNames.get(type);
  if (known !== undefined) return known;
  const name = spellType(type);
  typeNames.set(type, name);
  return name;
}

function spellType(type: GoType): string {
  if (type.name !== undefined) return type.name;
  switch (type.kind) {
    case 'slice':
      return `[]${typeName(type.element)}`;
    case 'map':
      return `map[${typeName(type.key)}]${typeName(type.element)}`;
    case 'pointer':
      return `*${typeName(type.element)}`;
    case 'interface':
      return 'interface {}';
    case 'reflected':
      return 'reflect.Value';
    default:
      return type.kind;
  }
}
