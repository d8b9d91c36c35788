import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { MERGE_KEY, PositionDependent, UNSUPPORTED_KEY } from './plain-scalar.ts';
import { YamlError } from './yaml-error.ts';

/** js-yaml's string form of a mapping that is used as a key. */
const OBJECT_AS_KEY = '[object Object]';

/** The maximum number of keys and values in a document with expanded aliases. */
const maxNodes = 1_000_000;

/** A converted list or object, and its number of nodes with expanded aliases. */
interface Finished {
  value: unknown;
  size: number;
}

/**
 * Converts js-yaml's result to plain JSON in place: resolves position-dependent scalars, and
 * applies merges (`<<`) in document order like yaml.v2, where a merge overrides earlier keys.
 * @throws YamlError for values without a JSON form, and for excessive aliasing
 */
export function finishDocument(document: unknown): unknown {
  return new Finisher().finish(document);
}

class Finisher {
  readonly #finished = new Map<object, Finished | 'open'>();
  #nodes = 0;
  #aliased = 0;

  finish(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) {
      this.#nodes += 1;
      return value;
    }
    if (value instanceof PositionDependent) {
      this.#nodes += 1;
      return jsonScalar(value.value);
    }
    const known = this.#finished.get(value);
    if (known === 'open') throw new YamlError('an anchor contains itself');
    if (known !== undefined) return this.#repeat(known);
    this.#finished.set(value, 'open');
    const before = this.#nodes;
    this.#nodes += 1;
    const result = Array.isArray(value) ? this.#list(value) : this.#object(value as JsonObject);
    this.#finished.set(value, { value: result, size: this.#nodes - before });
    return result;
  }

  /** Returns an aliased value: shared, but counted as if it were expanded. */
  #repeat({ value, size }: Finished): unknown {
    this.#nodes += size;
    this.#aliased += size;
    const excessive =
      this.#aliased > 100 && this.#nodes > 1000 && this.#aliased / this.#nodes > allowedShare(this.#nodes);
    if (excessive || this.#nodes > maxNodes) throw new YamlError('document contains excessive aliasing');
    return value;
  }

  #list(list: unknown[]): unknown[] {
    for (const [index, item] of list.entries()) list[index] = this.finish(item);
    return list;
  }

  #object(object: JsonObject): JsonObject {
    const names = Object.keys(object);
    const result: JsonObject = names.some(isMerge) ? {} : object;
    for (const name of names) {
      this.#nodes += 1;
      const value = this.finish(object[name]);
      if (isMerge(name)) {
        this.#merge(result, value);
      } else {
        checkKey(name);
        setMember(result, name, value);
      }
    }
    return result;
  }

  #merge(target: JsonObject, source: unknown): void {
    // The first source takes precedence, so apply it last.
    const sources = Array.isArray(source) ? [...(source as unknown[])].reverse() : [source];
    for (const from of sources) {
      if (!isJsonObject(from)) throw new YamlError('map merge requires map or sequence of maps as the value');
      const size = Object.keys(from).length;
      this.#repeat({ value: from, size });
      for (const name of Object.keys(from)) setMember(target, name, from[name]);
    }
  }
}

/** Returns Go's limit on aliased nodes: 99 % of a small document, 10 % of a large document. */
function allowedShare(nodes: number): number {
  const [small, large] = [400_000, 4_000_000];
  if (nodes <= small) return 0.99;
  return nodes >= large ? 0.1 : 0.99 - (0.89 * (nodes - small)) / (large - small);
}

function isMerge(name: string): boolean {
  return name.startsWith(MERGE_KEY);
}

function checkKey(name: string): void {
  if (name === UNSUPPORTED_KEY)
    throw new YamlError('unsupported map key: null or a 64-bit number (put the key in quotes)');
  if (name === OBJECT_AS_KEY)
    throw new YamlError('invalid map key: a mapping (such as a template action that was not rendered)');
}

function jsonScalar(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new YamlError(`json: unsupported value: ${name}`);
  }
  return value;
}
