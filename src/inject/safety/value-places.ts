import { jsonEqual } from '../patch/json-equal.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { skeletonOf, type OwnWords } from './arguments.ts';
import { elementName, type Place } from './place.ts';

/**
 * How two renderings are compared:
 * - `presence`: with and without what the author wrote. What may hold an author's text may come and go.
 * - `text`: with the author's text and with a text that means nothing to YAML. Only leaves may differ.
 */
export type Mode = 'presence' | 'text';

/** What two renderings differ in. */
export interface Difference {
  /** The first place in which no author may make a difference; absent when there is none. */
  readonly place?: Place;
  /** Whether something with a name of its own (a variable, a flag, a resource) has come or gone. */
  readonly named: boolean;
}

/**
 * Where two renderings of a template differ in more than an author may change. The rules below are the list of all places in which an author's text
 * may stand; everything that is not on it must be the same in both.
 */
export function forbiddenDifference(left: JsonObject, right: JsonObject, mode: Mode, own: OwnWords): Difference {
  return new Comparison(mode, own).result(part, left, right);
}

/** Where two renderings differ in more than the text of leaves, wherever these stand: for texts that an administrator allows. */
export function structuralDifference(left: JsonObject, right: JsonObject): Difference {
  return new Comparison('text', new Set()).result(anyLeaf, left, right);
}

/** Compares two values at a place; either may be absent. Returns the first place with a forbidden difference. */
type Rule = (comparison: Comparison, left: unknown, right: unknown) => Place | undefined;

class Comparison {
  readonly mode: Mode;
  readonly own: OwnWords;
  named = false;
  readonly #place: string[] = [];

  constructor(mode: Mode, own: OwnWords) {
    this.mode = mode;
    this.own = own;
  }

  result(rule: Rule, left: unknown, right: unknown): Difference {
    const place = rule(this, left, right);
    return { named: this.named, ...(place && { place }) };
  }

  at(name: string, rule: Rule, left: unknown, right: unknown): Place | undefined {
    if (left === right) return undefined;
    this.#place.push(name);
    const found = rule(this, left, right);
    this.#place.pop();
    return found;
  }

  /** All members of two objects, each by its own rule. */
  members(left: JsonObject, right: JsonObject, ruleFor: (key: string) => Rule): Place | undefined {
    return firstPlace(keysOf(left, right), (key) => this.at(key, ruleFor(key), member(left, key), member(right, key)));
  }

  get place(): Place {
    return [...this.#place];
  }
}

/** Nothing may differ: not even null, absent and empty are the same, since null deletes what a pod has. */
const fixed: Rule = (comparison, left, right) => {
  if (jsonEqual(left, right)) return undefined;
  if (isJsonObject(left) && isJsonObject(right)) return comparison.members(left, right, () => fixed);
  return each(fixed)(comparison, left, right);
};

/** Elements that are all there in both, in the same order. */
function each(rule: Rule): Rule {
  return (comparison, left, right) => {
    const [first, second] = [listOf(left), listOf(right)];
    if (!Array.isArray(left) || !Array.isArray(right) || first.length !== second.length)
      return jsonEqual(left, right) ? undefined : deepestName(comparison.place, left ?? right);
    return firstPlace(first.keys(), (index) =>
      comparison.at(elementName(first[index], index), rule, first[index], second[index]),
    );
  };
}

/** A scalar, which may be any other one; it may be absent or null where it may come and go. */
const value: Rule = ({ mode, place }, left, right) => {
  if (left === right) return undefined;
  const both = [left, right];
  if (both.some((one) => typeof one === 'object' && one !== null)) return place;
  if (mode === 'presence') return undefined;
  // Nothing is left of it: YAML took the text for something else.
  return both.some((one) => one === undefined || one === null || one === '') ? place : undefined;
};

/** An object of which some members are for authors. */
function members(rules: Readonly<Record<string, Rule>>): Rule {
  return (comparison, left, right) => {
    if (!isJsonObject(left) || !isJsonObject(right)) return fixed(comparison, left, right);
    return comparison.members(left, right, (key) => (Object.hasOwn(rules, key) ? rules[key] : undefined) ?? fixed);
  };
}

/** What may come and go as a whole: absent, null and empty are the same to it. */
function optional(empty: 'object' | 'list', rule: Rule): Rule {
  const fits = empty === 'list' ? Array.isArray : isJsonObject;
  const filled = (one: unknown): unknown => one ?? (empty === 'list' ? [] : {});
  return (comparison, left, right) => {
    if (comparison.mode === 'text' && isAbsent(left) !== isAbsent(right)) return comparison.place;
    const [first, second] = [filled(left), filled(right)];
    return fits(first) && fits(second) ? rule(comparison, first, second) : comparison.place;
  };
}

/** Resources that every container has: it says nothing who names them. */
const usualResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** A map of scalars. Its keys are the template's own words, or any. */
function entries(keys: 'any' | 'own'): Rule {
  return optional('object', (comparison, left, right) => {
    const [first, second] = [left as JsonObject, right as JsonObject];
    return comparison.members(first, second, (key) => {
      const comes = Object.hasOwn(first, key) !== Object.hasOwn(second, key);
      const isAnybody = keys === 'any' || usualResources.has(key);
      if (comes && (comparison.mode === 'text' || !(isAnybody || comparison.own.has(key)))) return forbidden;
      comparison.named ||= comes && !isAnybody;
      return value;
    });
  });
}

/** What stands here differs already. */
const forbidden: Rule = ({ place }) => place;

/**
 * Elements by name, which may come and go if they hold nothing but scalars of these members; what stays keeps its order.
 * @param isOwn whether an element may come and go by its name
 */
function named(texts: readonly string[], isOwn: (comparison: Comparison, name: unknown) => boolean): Rule {
  const element = members(Object.fromEntries(texts.map((text): [string, Rule] => [text, value])));
  const inTurn = each(element);
  return optional('list', (comparison, left, right) => {
    if (comparison.mode === 'text') return inTurn(comparison, left, right);
    const [first, second] = [byName(listOf(left)), byName(listOf(right))];
    const comesAndGoes = (key: string, one: unknown): Place | undefined => {
      const isPlain =
        isJsonObject(one) &&
        Object.entries(one).every(
          ([name, text]) => (name === 'name' || texts.includes(name)) && (text === null || typeof text !== 'object'),
        );
      return isPlain && isOwn(comparison, one.name) ? undefined : [...comparison.place, key];
    };
    const order = [...second.keys()].filter((key) => first.has(key));
    let next = 0;
    const found = firstPlace(first.entries(), ([key, one]) => {
      if (!second.has(key)) return comesAndGoes(key, one);
      if (order[next] !== key) return [...comparison.place, key];
      next += 1;
      return comparison.at(key, element, one, second.get(key));
    });
    return found ?? firstPlace(second.entries(), ([key, one]) => (first.has(key) ? undefined : comesAndGoes(key, one)));
  });
}

/** Anything but these members, at any depth. */
function anythingBut(names: ReadonlySet<string>): Rule {
  const rule: Rule = (comparison, left, right) => {
    const isText = comparison.mode === 'text';
    if (isJsonObject(left) || isJsonObject(right)) {
      const [first, second] = [left ?? {}, right ?? {}];
      if (!isJsonObject(first) || !isJsonObject(second)) return comparison.place;
      return comparison.members(first, second, (key) => {
        if (isText && Object.hasOwn(first, key) !== Object.hasOwn(second, key)) return forbidden;
        return names.has(key) ? fixed : rule;
      });
    }
    if (Array.isArray(left) || Array.isArray(right)) {
      const [first, second] = [listOf(left), listOf(right)];
      if (isText && first.length !== second.length) return comparison.place;
      const longest = first.length > second.length ? first : second;
      return firstPlace(longest.keys(), (index) => comparison.at(`[${index}]`, rule, first[index], second[index]));
    }
    return value(comparison, left, right);
  };
  return rule;
}

/** Any leaf may differ, nothing else. */
const anyLeaf: Rule = anythingBut(new Set());

/** See arguments.ts. */
function argumentsOf(command: unknown): Rule {
  return optional('list', (comparison, left, right) => {
    const [first, second] = [listOf(left), listOf(right)];
    if (comparison.mode === 'text' && first.length !== second.length) return comparison.place;
    if (![...first, ...second].every((one) => typeof one === 'string')) return fixed(comparison, first, second);
    const before = listOf(command).map(String);
    const one = skeletonOf(first.map(String), before, comparison.own);
    const other = skeletonOf(second.map(String), before, comparison.own);
    comparison.named ||= !jsonEqual(one.flags, other.flags);
    return jsonEqual(one.fixed, other.fixed) ? undefined : comparison.place;
  });
}

const isOwnName = (comparison: Comparison, name: unknown): boolean => {
  comparison.named = true;
  return typeof name === 'string' && comparison.own.has(name);
};

/** A probe runs nothing but what the template says, and asks no other host. */
const probe: Rule = optional('object', anythingBut(new Set(['exec', 'host'])));
const resources: Rule = optional('object', members({ requests: entries('own'), limits: entries('own') }));
const env: Rule = named(['value'], isOwnName);
const ports: Rule = named(['name', 'containerPort', 'protocol'], () => true);

/** A container is there, with the same name, image, command, mounts and privileges, whatever an author writes. */
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

/** Authors may write labels and annotations of any name themselves. */
const metadata: Rule = members({ labels: entries('any'), annotations: entries('any') });

/** What a template renders. */
const part: Rule = members({
  metadata: (comparison, left, right) =>
    comparison.mode === 'presence' && (left === undefined || right === undefined)
      ? metadata(comparison, left ?? {}, right ?? {})
      : metadata(comparison, left, right),
  spec: members({ containers: each(container), initContainers: each(container) }),
});

function firstPlace<Item>(items: Iterable<Item>, find: (item: Item) => Place | undefined): Place | undefined {
  for (const item of items) {
    const place = find(item);
    if (place !== undefined) return place;
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

function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function listOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? (list as unknown[]) : [];
}

/** Of equal names the first keeps it; the others are known by name and number. */
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

/** The place of the first leaf of what is there in one of two trees only, a few names deep: for messages. */
function deepestName(place: Place, tree: unknown): Place {
  let [names, below] = [place, tree];
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
