/** A Go type in encoding/json: by kind, by fields, or with its own JSON methods (`custom`). */
export type ValueType = ScalarType | ListType | MapType | StructType | CustomType;

/** `goName` is the type in Go's messages, e.g. `v1.PullPolicy`, without pointers. */
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

/** resource.Quantity, intstr.IntOrString, metav1.Time or metav1.FieldsV1. */
export interface CustomType {
  readonly kind: 'custom';
  readonly goName: string;
  readonly format: 'quantity' | 'int-or-string' | 'time' | 'raw';
}

export interface StructType {
  readonly kind: 'struct';
  readonly goName: string;
  /** The name without package, e.g. `Container`. */
  readonly localName: string;
  /** The JSON fields in Go's order; fields of an embedded struct are inlined. */
  readonly fields: readonly StructField[];
  /** Fields encoded even if zero: those without omitempty, and structs, which Go never omits. */
  readonly alwaysEncoded: readonly StructField[];
  readonly byName: ReadonlyMap<string, StructField>;
  /** By lower-case JSON name: encoding/json ignores case unless a name matches exactly. */
  readonly byFoldedName: ReadonlyMap<string, StructField>;
}

export interface StructField {
  /** The Go name, as in templates. */
  readonly goName: string;
  readonly name: string;
  readonly type: ValueType;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** The Go names of the embedded structs around the field, outermost first. */
  readonly embeddedIn: readonly string[];
  /** The struct tags of strategic merge: `merge` or '' (replace), and the key of list items. */
  readonly patchStrategy: string;
  readonly mergeKey: string;
}
