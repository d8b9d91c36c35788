/** The error for a value of the wrong type in a pod, with the message of encoding/json. */
export class PodTypeError extends Error {
  override readonly name = 'PodTypeError';
  /** The path in Go's format, without list indexes: `spec.containers.ports`; '' for the pod. */
  readonly field: string;
  /** The value and the field, if Go's message names neither. */
  readonly detail: string;

  constructor(field: string, message: string, options?: ErrorOptions, detail = '') {
    super(message, options);
    this.field = field;
    this.detail = detail;
  }
}

/** The position of the decoder. */
export interface DecoderPosition {
  /** The Go name of the struct of the current field; empty at the root. */
  struct: string;
  /** The names on the path, including embedded structs. */
  readonly path: string[];
}

/** `found` is the JSON type of the value, and `expected` is the Go type. */
export function typeMismatch(position: DecoderPosition, found: string, expected: string): PodTypeError {
  const field = position.path.join('.');
  const target = field === '' ? 'Go value' : `Go struct field ${position.struct}.${field}`;
  return new PodTypeError(field, `json: cannot unmarshal ${found} into ${target} of type ${expected}`);
}

/** Returns encoding/json's name of the type of a non-null value. */
export function describeJson(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
