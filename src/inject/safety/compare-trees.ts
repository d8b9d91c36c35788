import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import { lettersOf } from './harmless-text.ts';
import { mayComeAndGo, mayHoldText, runsShell, script, type Place } from './scalar-places.ts';

/** How a tree rendered with an author's text compares with one rendered with a benign text. */
export type TextEffect =
  | { readonly kind: 'none' }
  /** Leaves differ in letters too: a further twin must tell whether they hold the text. */
  | { readonly kind: 'unclear' }
  /** More differs than leaves that hold the text. */
  | { readonly kind: 'structure'; readonly place: Place };

const none: TextEffect = { kind: 'none' };

/**
 * Whether the trees are the same but for leaves that hold the text.
 * @param anyLeaf Whether all leaves may hold it, not only those of {@link mayHoldText}.
 * @param other The tree of another benign text with other letters: a leaf that is the same in both does not hold the text.
 */
export function textEffect(real: unknown, benign: unknown, anyLeaf: boolean, other?: JsonObject): TextEffect {
  const visit = (left: unknown, right: unknown, third: unknown, place: Place): TextEffect => {
    if (left === right) return none;
    const differs: TextEffect = { kind: 'structure', place };
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return differs;
      return worst(
        left.map((item, index) => visit(item, right[index], elementAt(third, index), elementPlace(place, item, index))),
      );
    }
    if (isJsonObject(left)) {
      if (!isJsonObject(right) || !sameKeys(left, right)) return differs;
      return worst(
        Object.keys(left).map((key) =>
          visit(left[key], right[key], memberAt(third, key), memberPlace(place, left, key)),
        ),
      );
    }
    if (left === null || right === null || typeof right === 'object' || right === undefined) return differs;
    if (!anyLeaf && !mayHoldText(place)) return differs;
    // Nothing is left of it: YAML took the text for something else.
    if (left === '') return differs;
    if (lettersOf(textOf(left)) === lettersOf(textOf(right))) return none;
    if (other === undefined) return { kind: 'unclear' };
    return third === right ? differs : none;
  };
  return visit(real, benign, other, []);
}

/** The first that is more than a value; otherwise whether anything is unclear. */
function worst(effects: readonly TextEffect[]): TextEffect {
  return effects.find(({ kind }) => kind === 'structure') ?? effects.find(({ kind }) => kind === 'unclear') ?? none;
}

/**
 * Where a tree differs from the one for other annotations in more than what may come and go with them; `undefined` when nowhere.
 * @param foreign The letters of the texts that the other tree was rendered with: no name in it may hold them.
 */
export function presenceEffect(real: unknown, other: unknown, foreign: readonly string[]): Place | undefined {
  const visit = (left: unknown, right: unknown, place: Place): Place | undefined => {
    if (jsonEqual(left, right)) return undefined;
    const pair = [left, right];
    if (pair.some(Array.isArray)) {
      if (pair.some(isScalar) || pair.some(isJsonObject)) return place;
      const [first, second] = [elementsByName(left), elementsByName(right)];
      return firstPlace([...first.keys(), ...second.keys()], (key) =>
        visit(first.get(key), second.get(key), [...place, key]),
      );
    }
    if (pair.some(isJsonObject)) {
      if (pair.some(isScalar)) return place;
      const [first, second] = [isJsonObject(left) ? left : {}, isJsonObject(right) ? right : {}];
      return firstPlace([...Object.keys(first), ...Object.keys(second)], (key) => {
        const below = memberPlace(place, Object.hasOwn(first, key) ? first : second, key);
        if (!Object.hasOwn(first, key) && holdsOneOf(key, foreign)) return below;
        return visit(memberAt(first, key), memberAt(second, key), below);
      });
    }
    if (!mayComeAndGo(place)) return place;
    return !mayHoldText(place) && holdsOneOf(textOf(right), foreign) ? place : undefined;
  };
  return visit(real, other, []);
}

/** Templates may write a text in another case; one of a letter or two is in everything. */
function holdsOneOf(text: string, wanted: readonly string[]): boolean {
  const letters = lettersOf(text);
  return wanted.some((one) => (one.length < 3 ? letters === one : letters.includes(one)));
}

function firstPlace(keys: Iterable<string>, find: (key: string) => Place | undefined): Place | undefined {
  for (const key of keys) {
    const place = find(key);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** A scalar as text: unquoted, YAML may have made a number of it. */
function textOf(scalar: unknown): string {
  return typeof scalar === 'string' ? scalar : JSON.stringify(scalar ?? null);
}

function isScalar(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'object';
}

function sameKeys(left: JsonObject, right: JsonObject): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.hasOwn(right, key));
}

function elementAt(list: unknown, index: number): unknown {
  return Array.isArray(list) ? (list as unknown[])[index] : undefined;
}

function memberAt(object: unknown, key: string): unknown {
  return isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

function memberPlace(place: Place, object: JsonObject, key: string): Place {
  return [...place, key === 'args' && place.length === 3 && runsShell(object.command) ? script : key];
}

function elementPlace(place: Place, item: unknown, index: number): Place {
  return [...place, `[${nameOf(item) ?? index}]`];
}

function nameOf(item: unknown): string | undefined {
  return isJsonObject(item) && typeof item.name === 'string' ? item.name : undefined;
}

/** Elements of lists that Kubernetes merges by name keep it in another order; of equal names the index decides too. */
function elementsByName(list: unknown): Map<string, unknown> {
  const result = new Map<string, unknown>();
  for (const [index, item] of (Array.isArray(list) ? (list as unknown[]) : []).entries()) {
    const name = `[${nameOf(item) ?? index}]`;
    result.set(result.has(name) ? `[${index}]` : name, item);
  }
  return result;
}
