import { Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { unknownParts, type UnknownPart } from './cel-unknown-parts.ts';

/** What the API server finds for one CEL expression; `unknown` where this program cannot say. */
export type ConditionResult =
  { readonly result: 'true' | 'false' } | { readonly result: 'error' | 'unknown'; readonly message: string };

/** The variables of a matchCondition. Of the request what is known beforehand. */
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

/** Stands for what is unknown: it fails. */
const failing = "(object.metadata['\\u0000'])";

/**
 * Evaluates an expression as the API server does for a creation: `object` is the pod, `oldObject` is null. What it accepted but is not understood
 * here, or depends on what is not known (who creates the pod, an authorizer), is taken for something that fails: CEL passes over that where the rest of the
 * expression decides (`true || unknown`), and so the answer is right; where it does not, the answer is `unknown`, never guessed.
 */
export function evaluateCondition(expression: string, input: ConditionInput): ConditionResult {
  let unknown: UnknownPart[] = [];
  const beyond = (message: string): ConditionResult => ({ result: 'unknown', message: unknown[0]?.message ?? message });
  try {
    unknown = unknownParts(environment.parse(expression).ast, input.request);
    const failingAt = (text: string, { start, end }: UnknownPart) => text.slice(0, start) + failing + text.slice(end);
    const parsed = environment.parse(unknown.reduceRight(failingAt, expression));
    const checked = parsed.check();
    if (!checked.valid) return beyond(`it cannot be checked here: ${firstLine(checked.error)}`);
    const context = { object: celValue(input.object), oldObject: null, request: celValue(input.request) };
    const value: unknown = parsed(context);
    if (typeof value === 'boolean') return { result: value ? 'true' : 'false' };
    return unknown.length > 0 ? beyond('') : { result: 'error', message: 'its value is neither true nor false' };
  } catch (error) {
    if (error instanceof ParseError) return beyond(`it cannot be read here: ${firstLine(error)}`);
    if (!(error instanceof EvaluationError)) return beyond(`it cannot be evaluated here: ${firstLine(error)}`);
    return unknown.length > 0 ? beyond('') : { result: 'error', message: firstLine(error) };
  }
}

/** JSON as CEL sees it: whole numbers are int64 (as in unstructured objects of the API server). */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, celValue(member)]));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
