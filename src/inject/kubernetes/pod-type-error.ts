/** A value that does not fit its field in the pod. The message is the one of Go's encoding/json, since it ends up in admission responses. */
export class PodTypeError extends Error {
  override readonly name = 'PodTypeError';
  /** Where the value is, as Go counts: `spec.containers.ports`, without the places of list items. Empty for the pod itself. */
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}

/** Where decoding has got to. */
export interface Place {
  /** The Go name of the struct whose field is being decoded; empty at the root. */
  struct: string;
  /** The names that lead there, those of embedded structs included. */
  readonly path: string[];
}

/** `found` is JSON's word for the value, `expected` the Go type. */
export function typeMismatch(place: Place, found: string, expected: string): PodTypeError {
  const field = place.path.join('.');
  const target = field === '' ? 'Go value' : `Go struct field ${place.struct}.${field}`;
  return new PodTypeError(field, `json: cannot unmarshal ${found} into ${target} of type ${expected}`);
}

/** The word of Go's encoding/json for a value that is not null. */
export function describeJson(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
