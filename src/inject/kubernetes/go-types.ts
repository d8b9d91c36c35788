/** A Go type as encoding/json sees it. A `custom` type has its own JSON methods. */
export type ValueType = PodScalarType | ListType | PodMapType | PodStructType | CustomType;

/** `goName` is the type in Go's messages, e.g. `v1.PullPolicy`, without pointers. */
export interface PodScalarType {
  readonly kind: 'string' | 'bool' | 'int32' | 'int64';
  readonly goName: string;
}

export interface ListType {
  readonly kind: 'list';
  readonly goName: string;
  readonly element: ValueType;
  readonly elementPointer: boolean;
}

export interface PodMapType {
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

export interface PodStructType {
  readonly kind: 'struct';
  readonly goName: string;
  /** The name without package, e.g. `Container`. */
  readonly localName: string;
  /** The JSON fields in Go's order; fields of an embedded struct are inlined. */
  readonly fields: readonly StructField[];
  /** The fields that Go encodes even if they are zero: fields without omitempty, and structs. */
  readonly alwaysEncoded: readonly StructField[];
  readonly byName: ReadonlyMap<string, StructField>;
  /** The fields by lower-case name: encoding/json ignores case unless a name matches exactly. */
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
  /** The strategy of strategic merge: `merge`, or '' for replacement. */
  readonly patchStrategy: string;
  readonly mergeKey: string;
}
