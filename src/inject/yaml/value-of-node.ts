import { setMember, type JsonObject } from '../patch/json-value.ts';
import { MERGE_KEY, PositionDependent } from './plain-scalar.ts';
import type { SpanNode } from './read-nodes.ts';
import { YamlError } from './yaml-error.ts';

/** The maximum number of keys and values in a document with expanded aliases. */
const maxNodes = 1_000_000;

/**
 * Returns the JSON value of a document. Applies merges (`<<`) in document order like yaml.v2, where
 * a merge overrides earlier keys. Aliased values are shared, but counted as if they were expanded.
 * @throws YamlError for values without a JSON form, and for excessive aliasing
 */
export function valueOfNode(root: SpanNode): unknown {
  return new Composer().value(root);
}

class Composer {
  /** The values of nodes with an anchor, and their numbers of nodes; undefined inside the node. */
  readonly #known = new Map<SpanNode, { readonly value: unknown; readonly size: number } | undefined>();
  #nodes = 0;
  #aliased = 0;

  value(node: SpanNode): unknown {
    const before = this.#nodes;
    this.#nodes += 1;
    if (node.target !== undefined) return this.#alias(node.target);
    if (!node.hasAnchor) return this.#content(node);
    this.#known.set(node, undefined);
    const value = this.#content(node);
    this.#known.set(node, { value, size: this.#nodes - before });
    return value;
  }

  #alias(target: SpanNode): unknown {
    // The node may be a key.
    if (!this.#known.has(target)) this.value(target);
    const known = this.#known.get(target);
    if (known === undefined) throw new YamlError('an anchor contains itself');
    this.#nodes += known.size;
    this.#aliased += known.size;
    const share = this.#aliased / this.#nodes;
    const isExcessive = this.#aliased > 100 && this.#nodes > 1000 && share > allowedShare(this.#nodes);
    if (isExcessive || this.#nodes > maxNodes) throw new YamlError('document contains excessive aliasing');
    return known.value;
  }

  #content({ kind, entries, value }: SpanNode): unknown {
    if (kind === 'scalar') return jsonScalar(value);
    if (kind === 'list') return entries.map((entry) => this.value(entry.value));
    const result: JsonObject = {};
    for (const { key, value: member } of entries) {
      this.#nodes += 1;
      const own = this.value(member);
      if (key.startsWith(MERGE_KEY)) for (const source of mergeSources(member, own)) merge(result, source);
      else setMember(result, key, own);
    }
    return result;
  }
}

/** Returns the maps that a merge key names, in reverse: the first takes precedence. */
function mergeSources({ kind, entries, ...node }: SpanNode, value: unknown): JsonObject[] {
  const nodes = kind === 'list' ? entries.map((entry) => entry.value) : [{ kind, ...node }];
  if (nodes.some((each) => (each.target ?? each).kind !== 'map'))
    throw new YamlError('map merge requires map or sequence of maps as the value');
  return (kind === 'list' ? [...(value as JsonObject[])].reverse() : [value]) as JsonObject[];
}

function merge(target: JsonObject, source: JsonObject): void {
  for (const name of Object.keys(source)) setMember(target, name, source[name]);
}

/** Returns Go's limit on aliased nodes: 99 % of a small document, 10 % of a large document. */
function allowedShare(nodes: number): number {
  const [small, large] = [400_000, 4_000_000];
  if (nodes <= small) return 0.99;
  return nodes >= large ? 0.1 : 0.99 - (0.89 * (nodes - small)) / (large - small);
}

function jsonScalar(value: unknown): unknown {
  const json = value instanceof PositionDependent ? value.value : value;
  if (typeof json === 'number' && !Number.isFinite(json)) {
    const name = Number.isNaN(json) ? 'NaN' : json > 0 ? '+Inf' : '-Inf';
    throw new YamlError(`json: unsupported value: ${name}`);
  }
  return json;
}
