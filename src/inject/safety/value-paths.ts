import { property } from '../../template/typed-value.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { skeletonOf, type OwnWords } from './arguments.ts';
import { elementName, type FieldPath } from './field-path.ts';

/**
 * The kind of a comparison:
 * - `presence`: one rendering lacks the author's texts; optional parts may appear or vanish.
 * - `text`: one rendering has harmless texts instead of the author's texts; only leaves may differ.
 */
export type Mode = 'presence' | 'text';

/** The difference between two renderings. */
export interface Difference {
  /** The first path with a forbidden difference; absent if there is none. */
  readonly path?: FieldPath;
  /** Whether a named element (a variable, a flag, a resource) appeared or vanished. */
  readonly named: boolean;
}

/**
 * Finds a difference that authors may not make. The rules below list all value paths, where an
 * author's text may appear; everything else must be equal.
 */
export function forbiddenDifference(left: JsonObject, right: JsonObject, mode: Mode, own: OwnWords): Difference {
  return new Comparison(mode, own).result(part, left, right);
}

/** Finds a difference in anything but leaves, for texts that an administrator allows. */
export function structuralDifference(left: JsonObject, right: JsonObject): Difference {
  return new Comparison('text', new Set()).result(anyLeaf, left, right);
}

/** Compares two values, either of which may be absent. Returns the first forbidden path. */
type Rule = (comparison: Comparison, left: unknown, right: unknown) => FieldPath | undefined;

class Comparison {
  readonly mode: Mode;
  readonly own: OwnWords;
  named = false;
  readonly #path: string[] = [];

  constructor(mode: Mode, own: OwnWords) {
    this.mode = mode;
    this.own = own;
  }

  result(rule: Rule, left: unknown, right: unknown): Difference {
    const path = rule(this, left, right);
    return { named: this.named, ...(path && { path }) };
  }

  at(name: string, rule: Rule, left: unknown, right: unknown): FieldPath | undefined {
    if (left === right) return undefined;
    this.#path.push(name);
    const found = rule(this, left, right);
    this.#path.pop();
    return found;
  }

  /** Compares all members of two objects by their rules. */
  members(left: JsonObject, right: JsonObject, ruleFor: (key: string) => Rule): FieldPath | undefined {
    return firstPath(keysOf(left, right), (key) =>
      this.at(key, ruleFor(key), property(left, key), property(right, key)),
    );
  }

  get path(): FieldPath {
    return [...this.#path];
  }
}

/** Requires equality. Null, absent and empty differ: null deletes a field of the pod. */
const fixed: Rule = (comparison, left, right) => {
  if (jsonEqual(left, right)) return undefined;
  if (isJsonObject(left) && isJsonObject(right)) return comparison.members(left, right, () => fixed);
  return each(fixed)(comparison, left, right);
};

/** Requires the same number of elements, in the same order. */
function each(rule: Rule): Rule {
  return (comparison, left, right) => {
    const [first, second] = [listOf(left), listOf(right)];
    if (!Array.isArray(left) || !Array.isArray(right) || first.length !== second.length)
      return jsonEqual(left, right) ? undefined : deepestPath(comparison.path, left ?? right);
    return firstPath(first.keys(), (index) =>
      comparison.at(elementName(first[index], index), rule, first[index], second[index]),
    );
  };
}

/** Allows any scalar; in mode `presence`, the value may also be absent or null. */
const value: Rule = ({ mode, path }, left, right) => {
  if (left === right) return undefined;
  const both = [left, right];
  if (both.some((one) => typeof one === 'object' && one !== null)) return path;
  if (mode === 'presence') return undefined;
  // An empty value means that YAML interpreted the text.
  return both.some((one) => one === undefined || one === null || one === '') ? path : undefined;
};

/** Applies rules to some members; the other members are fixed. */
function members(rules: Readonly<Record<string, Rule>>): Rule {
  return (comparison, left, right) => {
    if (!isJsonObject(left) || !isJsonObject(right)) return fixed(comparison, left, right);
    return comparison.members(left, right, (key) => (Object.hasOwn(rules, key) ? rules[key] : undefined) ?? fixed);
  };
}

/** Allows an absent value; treats absent, null and empty alike. */
function optional(empty: 'object' | 'list', rule: Rule): Rule {
  const fits = empty === 'list' ? Array.isArray : isJsonObject;
  const filled = (one: unknown): unknown => one ?? (empty === 'list' ? [] : {});
  return (comparison, left, right) => {
    if (comparison.mode === 'text' && isAbsent(left) !== isAbsent(right)) return comparison.path;
    const [first, second] = [filled(left), filled(right)];
    return fits(first) && fits(second) ? rule(comparison, first, second) : comparison.path;
  };
}

/** Resources of ordinary containers, whose names reveal nothing about the author. */
const usualResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Compares maps of scalars. Under `own`, only keys from the template may appear or vanish. */
function entries(keys: 'any' | 'own'): Rule {
  return optional('object', (comparison, left, right) => {
    const [first, second] = [left as JsonObject, right as JsonObject];
    return comparison.members(first, second, (key) => {
      const isOneSided = Object.hasOwn(first, key) !== Object.hasOwn(second, key);
      const isFreeKey = keys === 'any' || usualResources.has(key);
      if (isOneSided && (comparison.mode === 'text' || !(isFreeKey || comparison.own.has(key)))) return forbidden;
      comparison.named ||= isOneSided && !isFreeKey;
      return value;
    });
  });
}

/** Rejects a difference that the caller found at this path. */
const forbidden: Rule = ({ path }) => path;

/**
 * Compares elements by name. An element that has only scalars, in the listed members, may appear or
 * vanish. The other elements keep their order.
 * @param isOwn reports whether an element of this name may appear or vanish
 */
function named(texts: readonly string[], isOwn: (comparison: Comparison, name: unknown) => boolean): Rule {
  const element = members(Object.fromEntries(texts.map((text): [string, Rule] => [text, value])));
  const inOrder = each(element);
  return optional('list', (comparison, left, right) => {
    if (comparison.mode === 'text') return inOrder(comparison, left, right);
    const [first, second] = [byName(listOf(left)), byName(listOf(right))];
    const oneSided = (key: string, one: unknown): FieldPath | undefined => {
      const isPlain =
        isJsonObject(one) &&
        Object.entries(one).every(
          ([name, text]) => (name === 'name' || texts.includes(name)) && (text === null || typeof text !== 'object'),
        );
      return isPlain && isOwn(comparison, one.name) ? undefined : [...comparison.path, key];
    };
    const order = [...second.keys()].filter((key) => first.has(key));
    let next = 0;
    const found = firstPath(first.entries(), ([key, one]) => {
      if (!second.has(key)) return oneSided(key, one);
      if (order[next] !== key) return [...comparison.path, key];
      next += 1;
      return comparison.at(key, element, one, second.get(key));
    });
    return found ?? firstPath(second.entries(), ([key, one]) => (first.has(key) ? undefined : oneSided(key, one)));
  });
}

/** Allows any difference, except in the named members at any depth. */
function anythingBut(names: ReadonlySet<string>): Rule {
  const rule: Rule = (comparison, left, right) => {
    const isText = comparison.mode === 'text';
    if (isJsonObject(left) || isJsonObject(right)) {
      const [first, second] = [left ?? {}, right ?? {}];
      if (!isJsonObject(first) || !isJsonObject(second)) return comparison.path;
      return comparison.members(first, second, (key) => {
        if (isText && Object.hasOwn(first, key) !== Object.hasOwn(second, key)) return forbidden;
        return names.has(key) ? fixed : rule;
      });
    }
    if (Array.isArray(left) || Array.isArray(right)) {
      const [first, second] = [listOf(left), listOf(right)];
      if (isText && first.length !== second.length) return comparison.path;
      const longest = first.length > second.length ? first : second;
      return firstPath(longest.keys(), (index) => comparison.at(`[${index}]`, rule, first[index], second[index]));
    }
    return value(comparison, left, right);
  };
  return rule;
}

/** Allows any leaf to differ. */
const anyLeaf: Rule = anythingBut(new Set());

/** Compares arguments (see arguments.ts). */
function argumentsOf(command: unknown): Rule {
  return optional('list', (comparison, left, right) => {
    const [first, second] = [listOf(left), listOf(right)];
    if (comparison.mode === 'text' && first.length !== second.length) return comparison.path;
    if (![...first, ...second].every((one) => typeof one === 'string')) return fixed(comparison, first, second);
    const before = listOf(command).map(String);
    const one = skeletonOf(first.map(String), before, comparison.own);
    const other = skeletonOf(second.map(String), before, comparison.own);
    comparison.named ||= !jsonEqual(one.flags, other.flags);
    return jsonEqual(one.fixed, other.fixed) ? undefined : comparison.path;
  });
}

const isOwnName = (comparison: Comparison, name: unknown): boolean => {
  comparison.named = true;
  return typeof name === 'string' && comparison.own.has(name);
};

/** The command and the host of a probe may not change. */
const probe: Rule = optional('object', anythingBut(new Set(['exec', 'host'])));
const resources: Rule = optional('object', members({ requests: entries('own'), limits: entries('own') }));
const env: Rule = named(['value'], isOwnName);
const ports: Rule = named(['name', 'containerPort', 'protocol'], () => true);

/** Forbids changes to the name, image, command, mounts and privileges of a container. */
const container: Rule = (comparison, left, right) =>
  members({
    args: argumentsOf(isJsonObject(left) ? left.command : undefined),
    env,
    resources,
    ports,
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
  })(comparison, left, right);

/** Authors may write any labels and annotations themselves. */
const metadata: Rule = members({ labels: entries('any'), annotations: entries('any') });

/** The rule for a template's output. */
const part: Rule = members({
  metadata: (comparison, left, right) =>
    comparison.mode === 'presence' && (left === undefined || right === undefined)
      ? metadata(comparison, left ?? {}, right ?? {})
      : metadata(comparison, left, right),
  spec: members({ containers: each(container), initContainers: each(container) }),
});

function firstPath<Item>(items: Iterable<Item>, find: (item: Item) => FieldPath | undefined): FieldPath | undefined {
  for (const item of items) {
    const path = find(item);
    if (path !== undefined) return path;
  }
  return undefined;
}

function keysOf(left: JsonObject, right: JsonObject): Iterable<string> {
  const keys = Object.keys(left);
  return [...keys, ...Object.keys(right).filter((key) => !Object.hasOwn(left, key))];
}

function isAbsent(one: unknown): boolean {
  return one === undefined || one === null;
}

function listOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? (list as unknown[]) : [];
}

/** Indexes a list by name; appends a number to repeated names. */
function byName(list: readonly unknown[]): ReadonlyMap<string, unknown> {
  const result = new Map<string, unknown>();
  const counts = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const name = elementName(item, index);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    result.set(count === 0 ? name : `${name}#${count}`, item);
  }
  return result;
}

/** Returns the path of the first leaf in a tree, at most three levels deep, for messages. */
function deepestPath(path: FieldPath, tree: unknown): FieldPath {
  let [names, below] = [path, tree];
  for (let depth = 0; depth < 3; depth += 1) {
    const list = listOf(below);
    if (list.length > 0) {
      names = [...names, elementName(list[0], 0)];
      below = list[0];
    } else if (isJsonObject(below)) {
      const [key] = Object.keys(below);
      if (key === undefined) break;
      names = [...names, key];
      below = below[key];
    } else break;
  }
  return names;
}
