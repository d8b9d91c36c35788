import { Environment } from '@marcbachmann/cel-js';
import type { Mistake } from './mistake.ts';

/**
 * A rule of a CRD. The API server evaluates the CEL expression when an object is written. This
 * program evaluates it for files, and for objects that were stored before the rule existed.
 */
export interface ValidationRule extends Mistake {
  /** A CEL expression over `self` that is true for a valid object. */
  readonly rule: string;
  readonly holds: (context: { readonly self: unknown }) => boolean;
}

/** CEL with the functions of Kubernetes that the rules call and that cel-js does not have. */
const environment = new Environment()
  .registerVariable('self', 'dyn')
  .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
  .registerFunction('list.isSorted(): bool', (items: readonly number[]) =>
    items.every((item, index) => item >= (items[index - 1] ?? item)),
  );

/**
 * Returns the rules for CEL expressions by message.
 * @param expressions keys begin with the path of a field, then say what it requires and what to do
 */
export function validationRules(expressions: Readonly<Record<string, string>>): readonly ValidationRule[] {
  return Object.entries(expressions).map(([message, rule]) => {
    const [field = ''] = /^[\w.]+/.exec(message) ?? [];
    const evaluate: ValidationRule['holds'] = environment.parse(rule);
    return { field, message, rule, holds: (context) => holdsFor(() => evaluate(context)) };
  });
}

/** As for the API server, a rule does not hold for a time zone that does not exist. */
function holdsFor(evaluate: () => boolean): boolean {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the mistakes in a parsed object. The `self` of the rules is the object, or its spec. */
export function brokenRules(
  objectRules: readonly ValidationRule[],
  specRules: readonly ValidationRule[],
  { metadata: { name }, spec }: { readonly metadata: { readonly name: string }; readonly spec: object },
): Mistake[] {
  const value = celValue(spec);
  const object = { metadata: { name }, spec: value };
  const broken = [
    ...objectRules.filter(({ holds }) => !holds({ self: object })),
    ...specRules.filter(({ holds }) => !holds({ self: value })),
  ];
  return broken.map(({ field, message }) => ({ field, message }));
}

/** Fields of arbitrary JSON without bounds. Rules only test whether an object has them. */
const unbounded: readonly string[] = ['values', 'meshConfig'];

/** Replaces objects by Maps, because cel-js reads `constructor`, which authors may use as a key. */
function celValue(value: unknown, key = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (unbounded.includes(key)) return true;
  if (Array.isArray(value)) return value.map((item) => celValue(item));
  return new Map(Object.entries(value).map(([name, field]) => [name, celValue(field, name)]));
}
