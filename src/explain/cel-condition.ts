import { Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { unknownParts, type UnknownPart } from './cel-unknown-parts.ts';

/** The API server's result for a CEL expression; `unknown` if this code cannot evaluate it. */
export type ConditionResult =
  { readonly result: 'true' | 'false' } | { readonly result: 'error' | 'unknown'; readonly message: string };

/** The variables of a matchCondition. `request` has the fields known before the request. */
export interface ConditionInput {
  readonly object: JsonObject;
  readonly request: JsonObject;
}

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerVariable('object', 'dyn')
  .registerVariable('oldObject', 'dyn')
  .registerVariable('request', 'dyn');

/** An expression that always fails; it replaces unknown parts. */
const failing = "(object.metadata['\\u0000'])";

/**
 * Evaluates an expression as the API server does for a creation: `object` is the pod, `oldObject`
 * is null. A failing expression replaces unsupported or unknown parts (such as the creator). CEL
 * ignores a failure that cannot matter (`true || unknown`); otherwise the result is `unknown`.
 */
export function evaluateCondition(expression: string, input: ConditionInput): ConditionResult {
  let unknown: UnknownPart[] = [];
  const undecided = (message: string): ConditionResult => ({
    result: 'unknown',
    message: unknown[0]?.message ?? message,
  });
  try {
    unknown = unknownParts(environment.parse(expression).ast, input.request);
    const failingAt = (text: string, { start, end }: UnknownPart) => text.slice(0, start) + failing + text.slice(end);
    const parsed = environment.parse(unknown.reduceRight(failingAt, expression));
    const checked = parsed.check();
    if (!checked.valid) return undecided(`it cannot be checked here: ${firstLine(checked.error)}`);
    const context = { object: celValue(input.object), oldObject: null, request: celValue(input.request) };
    const value: unknown = parsed(context);
    if (typeof value === 'boolean') return { result: value ? 'true' : 'false' };
    return unknown.length > 0 ? undecided('') : { result: 'error', message: 'its value is neither true nor false' };
  } catch (error) {
    if (error instanceof ParseError) return undecided(`it cannot be parsed here: ${firstLine(error)}`);
    if (!(error instanceof EvaluationError)) return undecided(`it cannot be evaluated here: ${firstLine(error)}`);
    return unknown.length > 0 ? undecided('') : { result: 'error', message: firstLine(error) };
  }
}

/** Converts JSON to CEL values: whole numbers become int64, as in the API server. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, celValue(member)]));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
