import { namesThere } from '../../explain/nearest-name.ts';
import { isPlainMap } from '../../template/value-kind.ts';

export type Schema = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' || typeof value === 'bigint';
const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isValid = (schema: Schema, value: unknown): boolean => schemaMistakes(schema, value).length === 0;

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isText,
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => typeof value === 'bigint' || Number.isInteger(value),
  array: isList,
  object: isPlainMap,
  null: (value) => value === null,
};

/** The check of each keyword. A keyword that does not apply to the value's type is ignored. */
const keywords: Readonly<Record<string, (value: unknown, rule: never) => boolean>> = {
  type: (value, rule: string | string[]) => [rule].flat().some((name) => types[name]?.(value) === true),
  enum: (value, rule: unknown[]) => rule.includes(value),
  minimum: (value, rule: number) => !isNumber(value) || value >= rule,
  maximum: (value, rule: number) => !isNumber(value) || value <= rule,
  minLength: (value, rule: number) => !isText(value) || value.length >= rule,
  maxLength: (value, rule: number) => !isText(value) || value.length <= rule,
  pattern: (value, rule: string) => !isText(value) || new RegExp(rule, 'u').test(value),
  minItems: (value, rule: number) => !isList(value) || value.length >= rule,
  required: (value, rule: string[]) => !isPlainMap(value) || rule.every((key) => Object.hasOwn(value, key)),
  propertyNames: (value, rule: Schema) => !isPlainMap(value) || Object.keys(value).every((key) => isValid(rule, key)),
  not: (value, rule: Schema) => !isValid(rule, value),
};

/** Keywords for documentation, and keywords that `schemaMistakes` applies to nested values. */
const otherKeywords = new Set(['$schema', 'title', 'description', 'properties', 'additionalProperties', 'items']);

/**
 * Returns the violations of a JSON schema.
 * @param at the path of the value: `.a[0]`
 * @throws Error for a keyword that our chart's schema does not use
 */
export function schemaMistakes(schema: Schema, value: unknown, at = ''): string[] {
  const own = Object.entries(schema).flatMap(([keyword, rule]) => {
    if (otherKeywords.has(keyword)) return [];
    if (!Object.hasOwn(keywords, keyword)) throw new Error(`values.schema.json: keyword ${keyword} is not supported`);
    const holds = keywords[keyword]?.(value, rule as never) === true;
    return holds ? [] : [`${at.slice(1) || 'the values'}: the chart requires ${keyword} ${JSON.stringify(rule)}`];
  });
  const { properties = {}, additionalProperties = true, items = true } = schema as Record<string, Schema | boolean>;
  const ruleOf = (key: string): Schema | boolean =>
    Object.hasOwn(properties as Schema, key) ? ((properties as Schema)[key] as Schema) : additionalProperties;
  const inner = isPlainMap(value)
    ? Object.entries(value).map(([key, each]) => [`${at}.${key}`, each, ruleOf(key)] as const)
    : isList(value)
      ? value.map((each, index) => [`${at}[${index}]`, each, items] as const)
      : [];
  const below = inner.flatMap(([path, each, rule]) => {
    if (typeof rule !== 'boolean') return schemaMistakes(rule, each, path);
    const key = path.slice(path.lastIndexOf('.') + 1);
    return rule ? [] : [`${path.slice(1)}: the chart has no such value; ${namesThere(key, Object.keys(properties))}`];
  });
  return [...own, ...below];
}
