import { RE2JS } from 're2js';
import type { Matcher } from 're2js';
import { hasStrayBytes } from '../go-string.ts';

/** A compiled expression in Go's syntax (RE2). */
export interface RegularExpression {
  readonly matcher: (text: string) => Matcher;
  /** The name of each group, '' for those without. Unlike in other engines, several groups can have the same. */
  readonly names: readonly string[];
}

/** Compiling takes more than linear time. */
const longest = 1000;

/** What an expression is made of, as far as its groups need to be known. */
const token =
  /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\(?:[^]|$)|[^\]\\])*(?:\]|$)|\(\?P?<(?![=!])([A-Za-z0-9_]+)>|\(\?(?:<[=!]|[=!])|\((?!\?)/g;

/**
 * Compiles a regular expression.
 *
 * @throws Error with Go's message.
 */
export function compileExpression(expression: string): RegularExpression {
  if (expression.length > longest) throw failure(expression.slice(0, 40), 'expression too large');
  if (hasStrayBytes(expression)) throw failure(expression, 'invalid UTF-8');
  const names: string[] = [];
  // The engine wants names to be unique: groups are only numbered there.
  const numbered = expression.replace(token, (part: string, name: string | undefined) => {
    if (/^\(\?<?[=!]/.test(part)) throw failure(expression, `invalid or unsupported Perl syntax: \`${part}\``);
    if (part !== '(' && name === undefined) return part;
    names.push(name ?? '');
    return '(';
  });
  try {
    const compiled = RE2JS.compile(numbered);
    return { matcher: (text) => compiled.matcher(text), names };
  } catch (error) {
    throw failure(expression, (error as Error).message.replace('error parsing regexp: ', ''));
  }
}

function failure(expression: string, reason: string): Error {
  return new Error(`regexp: Compile(\`${expression}\`): error parsing regexp: ${reason}`);
}
