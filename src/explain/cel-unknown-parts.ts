import type { ASTNode } from '@marcbachmann/cel-js';
import type { JsonObject } from '../inject/patch/json-value.ts';

/** Functions and macros whose results are the same in the API server and in `cel-js`. */
const macros = ['has', 'all', 'exists', 'exists_one', 'map', 'filter'];
const conversions = ['size', 'int', 'double', 'string', 'dyn', 'type'];
const methods = ['startsWith', 'endsWith', 'contains', 'matches', 'orValue', 'hasValue', 'lowerAscii', 'upperAscii'];
const understood = new Set([...macros, ...conversions, ...methods]);

/** The fields of `request` that are known before the request. */
const kindFields = ['kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'requestSubResource'];
const requestFields = new Set([...kindFields, 'name', 'namespace', 'operation', 'dryRun', 'userInfo']);

/** A part of an expression whose value is unknown. The offset `end` is exclusive. */
export interface UnknownPart {
  readonly start: number;
  readonly end: number;
  /** The reason why the value is unknown. */
  readonly message: string;
}

/** Returns the outermost unknown parts of an expression, in order. */
export function unknownParts(node: unknown, request: JsonObject): UnknownPart[] {
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
