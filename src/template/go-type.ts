/**
 * Descriptions of Go types, through which templates see plain JSON like decoded Go structs: with
 * fields, zero values and methods. They are immutable; a recursive type uses a getter: `get
 * element() { return probe; }`.
 */

/** Go's integer kinds. At run time `int` is a `bigint`, every other kind an `Integer`. */
export type IntegerKind =
  'int' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint' | 'uint8' | 'uint16' | 'uint32' | 'uint64';

/** A Go type, as far as templates can distinguish it. */
export type GoType = ScalarType | SliceType | MapType | PointerType | StructType | InterfaceType | ReflectedType;

/** The optional properties of every type. */
export interface TypeBehaviour {
  /** The name in errors and for `%T`, e.g. `v1.Protocol`; absent for types like `[]string`. */
  readonly name?: string;
  /** Methods for templates, by Go name. Printing uses a `String` method, as fmt does. */
  readonly methods?: Readonly<Record<string, GoMethod>>;
  /** On each access, converts the JSON to the form of the type: `"90s"` → `{ seconds: 90 }`. */
  readonly decode?: (raw: unknown) => unknown;
  /** Encodes the JSON form as JSON text (Go's MarshalJSON); not called for nil pointers. */
  readonly toJson?: (raw: unknown) => string;
  /** Encodes the JSON form as protobuf JSON, for `protoToJSON`; marks a protobuf message. */
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

/** `*Element`. JSON null or absence is nil. Uses the element's name, methods and hooks. */
export interface PointerType extends TypeBehaviour {
  readonly kind: 'pointer';
  readonly element: GoType;
}

/** A struct. Reading a field that is not listed is an error. */
export interface StructType extends TypeBehaviour {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly GoField[];
}

/** `interface {}`: any JSON value. As a parameter's type it may require methods. */
export interface InterfaceType extends TypeBehaviour {
  readonly kind: 'interface';
  /** Reports whether a type has the required methods; absent for `interface {}`. */
  readonly accepts?: (type: GoType) => boolean;
}

/** `reflect.Value`: a builtin's unconverted argument, which may be missing. Not a type of data. */
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
  /** `json:",omitempty"`: JSON omits false, 0, "", nil and empty maps and slices. */
  readonly omitEmpty?: boolean;
  /** `json:",omitzero"`: JSON omits the zero value, also of a struct. */
  readonly omitZero?: boolean;
  /** An embedded struct, whose fields belong to the parent in JSON and in templates. */
  readonly inline?: boolean;
}

export interface GoMethod {
  readonly parameters?: readonly GoType[];
  /** Whether the last parameter's type applies to all further arguments. */
  readonly variadic?: boolean;
  /** The type of the returned plain value. */
  readonly result: GoType;
  /** Whether the receiver is `*T`: a pointer (even nil) or an addressable value. */
  readonly pointerReceiver?: boolean;
  /**
   * @param raw the receiver's JSON form; `null` for a nil pointer
   * @param args template values of the types in `parameters`
   * @returns a plain value in the JSON form of `result`; an exception fails the template
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

export function pointerTo(element: GoType): PointerType {
  return { kind: 'pointer', element };
}

export function sliceOf(element: GoType): SliceType {
  return { kind: 'slice', element };
}

export function mapOf(element: GoType): MapType {
  return { kind: 'map', key: stringType, element };
}

const typeNames = new WeakMap<GoType, string>();

/** Returns the type as Go prints it: `map[string]interface {}`; equal names mean equal types. */
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
