/** How Go's encoding/json treats a type: by its kind, its fields, or a method of its own (`custom`). */
export type ValueType = ScalarType | ListType | MapType | StructType | CustomType;

/** `goName` is what Go's error messages call the type, e.g. `v1.PullPolicy`. A pointer is a property of the place that holds it. */
export interface ScalarType {
  readonly kind: 'string' | 'bool' | 'int32' | 'int64';
  readonly goName: string;
}

export interface ListType {
  readonly kind: 'list';
  readonly goName: string;
  readonly element: ValueType;
  readonly elementPointer: boolean;
}

export interface MapType {
  readonly kind: 'map';
  readonly goName: string;
  readonly value: ValueType;
}

/** Types with JSON methods of their own: resource.Quantity, intstr.IntOrString, metav1.Time, metav1.FieldsV1. */
export interface CustomType {
  readonly kind: 'custom';
  readonly goName: string;
  readonly format: 'quantity' | 'int-or-string' | 'time' | 'raw';
}

export interface StructType {
  readonly kind: 'struct';
  readonly goName: string;
  /** The name without its package: `Container`. */
  readonly localName: string;
  /** The fields as JSON has them, in Go's order: those of embedded structs stand where the struct is embedded. */
  readonly fields: readonly StructField[];
  /** The fields that are encoded even when they are zero: those without omitempty, and structs, which are never empty for Go. */
  readonly alwaysEncoded: readonly StructField[];
  /** By JSON name. */
  readonly byName: ReadonlyMap<string, StructField>;
  /** By JSON name in lower case: encoding/json ignores the case of a name when no field has it exactly. */
  readonly byFoldedName: ReadonlyMap<string, StructField>;
}

export interface StructField {
  /** The Go name, as templates use it. */
  readonly goName: string;
  /** The name in JSON. */
  readonly name: string;
  readonly type: ValueType;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** The Go names of the embedded structs on the way to the field, outermost first. */
  readonly embeddedIn: readonly string[];
  /** The struct tags of strategic merge: `merge`, or nothing for "replace the list"; and the key of the list's items. */
  readonly patchStrategy: string;
  readonly mergeKey: string;
}
