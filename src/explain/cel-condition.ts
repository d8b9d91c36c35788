import { type ASTNode, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import type { JsonObject } from '../inject/patch/json-value.ts';

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

/** Syntax that only the API server's parser knows: quoted names, messages, `[?`, `.5`. */
const otherSyntax = /[`{]|[[,]\s*\?|(?:^|[^\w)\]'"])\./;

/** Returns why the API server cannot compile an expression; undefined if it may be able to. */
export function conditionMistake(expression: string): string | undefined {
  try {
    const { error, type = 'dyn' } = environment.parse(expression).check();
    if (type !== 'bool' && type !== 'dyn') return `its value is of type ${type}, not bool`;
    const [message = '', name = ''] = /^Unknown variable: (\w+)/.exec(error?.message ?? '') ?? [];
    // The API server also knows the authorizer, and macros with two variables.
    const isOther =
      ['', 'authorizer', 'namespaceObject'].includes(name) ||
      [...expression.matchAll(/[(,]\s*(\w+)(?=\s*,)/g)].some(([, variable]) => variable === name);
    return isOther ? undefined : message;
  } catch (error) {
    return error instanceof ParseError && !otherSyntax.test(expression) ? firstLine(error) : undefined;
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

/** Functions and macros whose results are the same in the API server and in `cel-js`. */
const macros = ['has', 'all', 'exists', 'exists_one', 'map', 'filter'];
const conversions = ['size', 'int', 'double', 'string', 'dyn', 'type'];
const methods = ['startsWith', 'endsWith', 'contains', 'matches', 'orValue', 'hasValue', 'lowerAscii', 'upperAscii'];
const understood = new Set([...macros, ...conversions, ...methods]);

/** The fields of `request` that are known before the request. */
const kindFields = ['kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'requestSubResource'];
const requestFields = new Set([...kindFields, 'name', 'namespace', 'operation', 'dryRun', 'userInfo']);

/** A part of an expression whose value is unknown. The offset `end` is exclusive. */
interface UnknownPart {
  readonly start: number;
  readonly end: number;
  /** The reason why the value is unknown. */
  readonly message: string;
}

/** Returns the outermost unknown parts of an expression, in order. */
function unknownParts(node: unknown, request: JsonObject): UnknownPart[] {
  if (Array.isArray(node)) return (node as unknown[]).flatMap((each) => unknownParts(each, request));
  if (!isNode(node)) return [];
  const message = problemOf(node, request);
  if (message === undefined) return unknownParts(node.args, request);
  return [{ start: node.range.start, end: node.range.end, message }];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'range' in value;
}

function problemOf(node: ASTNode, request: JsonObject): string | undefined {
  switch (node.op) {
    case 'call':
    case 'rcall': {
      const [name] = node.args;
      if (!understood.has(name)) return `the function ${name}() is not evaluated here`;
      return name === 'matches' ? patternProblem(node) : undefined;
    }
    case 'id':
      return node.args === 'authorizer' || node.args === 'namespaceObject'
        ? `${node.args} is not known here`
        : undefined;
    case '.':
    case '.?': {
      const [receiver, field] = node.args;
      if (isUserInfo(receiver) && field !== 'username' && field !== 'groups')
        return `request.userInfo.${field} is not known here`;
      // The two CEL implementations differ when an expression selects a field of null.
      if (receiver.op === 'id' && receiver.args === 'oldObject') return 'oldObject is only compared with null here';
      if (receiver.op !== 'id' || receiver.args !== 'request') return undefined;
      if (!requestFields.has(field)) return `request.${field} is not known here`;
      return isUserInfo(node) && request.userInfo === undefined ? userUnknown : undefined;
    }
    case '[]':
    case '[?]': {
      const [receiver] = node.args;
      const base = receiver.op === 'id' ? receiver.args : '';
      return base === 'request' || base === 'oldObject' ? `${base}[…] is not evaluated here` : undefined;
    }
    default:
      return undefined;
  }
}

const userUnknown = 'the creator of the pod (request.userInfo) is not known here: set it with --as';

function isUserInfo(node: ASTNode): boolean {
  if (node.op !== '.' && node.op !== '.?') return false;
  const [receiver, field] = node.args;
  return field === 'userInfo' && receiver.op === 'id' && receiver.args === 'request';
}

/** Patterns with the same meaning in RE2 and JavaScript. */
const plainPattern = /^(?:[A-Za-z0-9 _:@,=/^$*+|()[\].-]|\\[.dw/-]|\{\d+(?:,\d*)?\})*$/;

function patternProblem(node: ASTNode): string | undefined {
  const list = node.op === 'rcall' ? node.args[2] : node.op === 'call' ? node.args[1] : [];
  const pattern = list.at(-1);
  const text = pattern?.op === 'value' ? pattern.args : undefined;
  const isPlain = typeof text === 'string' && plainPattern.test(text) && !text.includes('(?') && !text.includes('[[');
  return isPlain ? undefined : 'the regular expression of matches() is not evaluated here';
}
