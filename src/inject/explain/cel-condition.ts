import { Environment, EvaluationError, type ASTNode } from '@marcbachmann/cel-js';
import type { JsonObject } from '../patch/json-value.ts';

/** What the API server finds for one CEL expression; `unknown` where this program cannot say. */
export type ConditionResult =
  { readonly result: 'true' | 'false' } | { readonly result: 'error' | 'unknown'; readonly message: string };

/** The variables of a matchCondition. Of the request what is known beforehand. */
export interface ConditionInput {
  readonly object: JsonObject;
  readonly request: JsonObject;
}

/** Functions and macros of which both implementations make the same; of Kubernetes' further libraries nothing is claimed. */
const understood = new Set(
  ['has', 'all', 'exists', 'exists_one', 'map', 'filter', 'size', 'int', 'double', 'string', 'dyn', 'type'].concat([
    'startsWith',
    'endsWith',
    'contains',
    'matches',
    'orValue',
    'hasValue',
    'lowerAscii',
    'upperAscii',
  ]),
);

/** What of `request` is known before there is one. */
const requestFields = new Set(
  ['kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'requestSubResource'].concat([
    'name',
    'namespace',
    'operation',
    'dryRun',
    'userInfo',
  ]),
);

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerVariable('object', 'dyn')
  .registerVariable('oldObject', 'dyn')
  .registerVariable('request', 'dyn');

/**
 * Evaluates an expression as the API server does for a creation: `object` is the pod, `oldObject` is null. An expression that it accepted but that is
 * not understood here, or that depends on what is not known (who creates the pod, an authorizer), is `unknown`, never guessed.
 */
export function evaluateCondition(expression: string, input: ConditionInput): ConditionResult {
  let parsed;
  try {
    parsed = environment.parse(expression);
  } catch (error) {
    return { result: 'unknown', message: `it cannot be read here: ${firstLine(error)}` };
  }
  const strange = notUnderstood(parsed.ast, input.request);
  if (strange !== undefined) return { result: 'unknown', message: strange };
  const checked = parsed.check();
  if (!checked.valid) return { result: 'unknown', message: `it cannot be checked here: ${firstLine(checked.error)}` };
  try {
    const context = { object: celValue(input.object), oldObject: null, request: celValue(input.request) };
    const value: unknown = parsed(context);
    if (typeof value === 'boolean') return { result: value ? 'true' : 'false' };
    return { result: 'error', message: 'its value is neither true nor false' };
  } catch (error) {
    // What is not known fails here, and CEL passes over that where the rest decides; here it did not.
    if (input.request.userInfo === undefined && asksForUser(parsed.ast))
      return { result: 'unknown', message: userUnknown };
    if (error instanceof EvaluationError) return { result: 'error', message: firstLine(error) };
    return { result: 'unknown', message: `it cannot be evaluated here: ${firstLine(error)}` };
  }
}

/** The first part of an expression that is beyond this program, in words. */
function notUnderstood(root: ASTNode, request: JsonObject): string | undefined {
  for (const node of nodesIn(root)) {
    const problem = problemOf(node, request);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(node: ASTNode, request: JsonObject): string | undefined {
  switch (node.op) {
    case 'call':
    case 'rcall': {
      const [name] = node.args;
      if (!understood.has(name)) return `the function ${name}() is not evaluated here`;
      if (name === 'has' && request.userInfo === undefined && asksForUser(node.args)) return userUnknown;
      return name === 'matches' ? patternProblem(node) : undefined;
    }
    case 'id':
      return node.args === 'authorizer' || node.args === 'namespaceObject'
        ? `${node.args} is not known here`
        : undefined;
    case '.':
    case '.?': {
      const [receiver, field] = node.args;
      if (isUserInfo(receiver) && field !== 'username' && field !== 'groups') {
        return `request.userInfo.${field} is not known here`;
      }
      // An absent object has no fields; what becomes of that depends on the implementation.
      if (receiver.op === 'id' && receiver.args === 'oldObject') return 'oldObject is only compared with null here';
      if (receiver.op !== 'id' || receiver.args !== 'request') return undefined;
      if (!requestFields.has(field)) return `request.${field} is not known here`;
      return node.op === '.?' && isUserInfo(node) && request.userInfo === undefined ? userUnknown : undefined;
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

const userUnknown = 'who creates the pod (request.userInfo) is not known here: say it with --as';

function isUserInfo(node: ASTNode): boolean {
  if (node.op !== '.' && node.op !== '.?') return false;
  const [receiver, field] = node.args;
  return field === 'userInfo' && receiver.op === 'id' && receiver.args === 'request';
}

function asksForUser(tree: unknown): boolean {
  return [...nodesIn(tree)].some(isUserInfo);
}

/** Patterns that RE2 and this program's engine read alike. */
const plainPattern = /^(?:[A-Za-z0-9 _:@,=/^$*+|()[\].-]|\\[.dw/-]|\{\d+(?:,\d*)?\})*$/;

function patternProblem(node: ASTNode): string | undefined {
  const list = node.op === 'rcall' ? node.args[2] : node.op === 'call' ? node.args[1] : [];
  const pattern = list.at(-1);
  const text = pattern?.op === 'value' ? pattern.args : undefined;
  const isPlain = typeof text === 'string' && plainPattern.test(text) && !text.includes('(?') && !text.includes('[[');
  return isPlain ? undefined : 'the regular expression of matches() is not evaluated here';
}

/** All nodes of an expression as it is written. */
function* nodesIn(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) {
    for (const each of value as unknown[]) yield* nodesIn(each);
    return;
  }
  if (typeof value !== 'object' || value === null || !('op' in value)) return;
  const node = value as ASTNode;
  yield node;
  yield* nodesIn(node.args);
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
