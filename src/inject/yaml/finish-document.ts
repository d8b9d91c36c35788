import { isJsonObject, setMember, type JsonObject } from '../patch/json-value.ts';
import { MERGE_KEY, PlaceDependent, UNSUPPORTED_KEY } from './plain-scalar.ts';
import { YamlError } from './yaml-error.ts';

/** What js-yaml makes of a mapping that is used as a key. */
const OBJECT_AS_KEY = '[object Object]';

/** Of how many keys and values a document may consist when its aliases are written out. */
const mostNodes = 1_000_000;

/** A list or an object that is finished, and of how many nodes it consists when its aliases are written out. */
interface Finished {
  value: unknown;
  size: number;
}

/**
 * Turns what js-yaml has read into plain JSON: scalars that depend on their place become what they are, merges (`<<`) are carried out as Go's
 * yaml.v2 does, in the order of the document, so that a merge overrides what stands before it. Changes the lists and objects in place.
 * @throws YamlError for what JSON has no words for, and for documents that aliases would blow up
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
    if (value instanceof PlaceDependent) {
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

  /** The same value once more, by an alias: it is shared, but counted as if it were written out. */
  #repeat({ value, size }: Finished): unknown {
    this.#nodes += size;
    this.#aliased += size;
    const excessive =
      this.#aliased > 100 && this.#nodes > 1000 && this.#aliased / this.#nodes > allowedShare(this.#nodes);
    if (excessive || this.#nodes > mostNodes) throw new YamlError('document contains excessive aliasing');
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
    // Of several sources the first one wins, so it comes last.
    const sources = Array.isArray(source) ? [...(source as unknown[])].reverse() : [source];
    for (const from of sources) {
      if (!isJsonObject(from)) throw new YamlError('map merge requires map or sequence of maps as the value');
      const size = Object.keys(from).length;
      this.#repeat({ value: from, size });
      for (const name of Object.keys(from)) setMember(target, name, from[name]);
    }
  }
}

/** Of how much of a document may come from aliases: Go's bound, 99 % of a small one to 10 % of a large one. */
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
    throw new YamlError('unsupported map key: null or a number of 64 bits (put the key in quotes)');
  if (name === OBJECT_AS_KEY)
    throw new YamlError('invalid map key: a mapping (a template action that was not rendered looks like one)');
}

function jsonScalar(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new YamlError(`json: unsupported value: ${name}`);
  }
  return value;
}
