/** A field of a pod that the API server refuses. */
export interface InvalidField {
  /** The path as the API server writes it, e.g. `spec.containers[0].image`. */
  readonly path: string;
  /** The kind of mistake in the API server's words (apimachinery, field.ErrorType). */
  readonly reason:
    'Duplicate value' | 'Forbidden' | 'Invalid value' | 'Not found' | 'Required value' | 'Unsupported value';
  /** The wrong value; undefined if none is shown, as for a missing value. */
  readonly value: unknown;
  /** Path, reason, value and detail, e.g. `spec.volumes[0].name: Duplicate value: "x"`. */
  readonly message: string;
  /** Identifies the mistake even if the elements of lists move. */
  readonly key: string;
}

/** The maximum number of findings in a pod. */
const mostFindings = 50;
/** The maximum length of a value, or of a name in a path, in characters. */
export const longestText = 100;

/** A place in a pod, and the list of all findings in the pod (apimachinery, field.Path). */
export class Place {
  readonly path: string;
  readonly #found: InvalidField[];
  /** The name of the container or volume around the place. */
  readonly #owner: unknown;

  constructor(path: string, found: InvalidField[], owner?: unknown) {
    this.path = path;
    this.#found = found;
    this.#owner = owner;
  }

  /** The number of findings so far, everywhere in the pod. */
  get findings(): number {
    return this.#found.length;
  }

  at(...names: readonly string[]): Place {
    return new Place([this.path, ...names].join('.'), this.#found, this.#owner);
  }

  /** @param key an index, or the key of a map @param owner the name of a container or volume */
  item(key: number | string, owner?: unknown): Place {
    return new Place(`${this.path}[${String(key).slice(0, longestText)}]`, this.#found, owner ?? this.#owner);
  }

  report(reason: InvalidField['reason'], value?: unknown, detail?: string): void {
    if (this.#found.length >= mostFindings) return;
    const { path } = this;
    const shown = value === undefined ? undefined : JSON.stringify(value).slice(0, longestText);
    const message = [`${path}: ${reason}`, shown, detail].filter((part) => part !== undefined).join(': ');
    const key = JSON.stringify([this.#owner, path.replace(/\[\d+\]/g, ''), reason, shown]);
    this.#found.push({ path, reason, value, message, key });
  }

  invalid(value: unknown, detail: string): void {
    this.report('Invalid value', value, detail);
  }

  forbidden(detail: string): void {
    this.report('Forbidden', undefined, detail);
  }
}
