export interface Mistake {
  /** The path of the field from the root of the object, e.g. `spec.injection.templates`. */
  readonly field: string;
  /** The requirement, the value found, and what to do. */
  readonly message: string;
}
