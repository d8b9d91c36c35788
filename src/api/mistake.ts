/** One thing that is wrong with an object. */
export interface Mistake {
  /** The field, from the root of the object, e.g. `spec.injection.templates`. */
  readonly field: string;
  /** What must hold, what was found and what to do. */
  readonly message: string;
}
