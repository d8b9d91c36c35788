import { RE2JS } from 're2js';
import { hasStrayBytes } from '../../../go-string.ts';
import { LimitError, type Meter } from '../../../exec/meter.ts';

/** A compiled expression in Go's syntax (RE2). */
export type RegularExpression = Readonly<ReturnType<typeof compileExpression>>;

/** Compiling takes more than linear time. */
const longest = 1000;

/** What an expression is made of, as far as its groups need to be known. */
const token =
  /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\(?:[^]|$)|[^\]\\])*(?:\]|$)|\(\?P?<(?![=!])([A-Za-z0-9_]+)>|\(\?(?:<[=!]|[=!])|\((?!\?)/g;

/** What compiling costs for each character, and for each instruction that comes of it: microseconds. */
const compiling = 256;
/** A class of Unicode has hundreds of ranges. */
const unicodeClass = 16_384;

/** Compiles a regular expression. @throws Error with Go's message */
export function compileExpression(meter: Meter, expression: string) {
  if (expression.length > longest) throw failure(expression.slice(0, 40), 'expression too large');
  meter.spend(expression.length * compiling + (expression.match(/\\[pP]/g)?.length ?? 0) * unicodeClass);
  if (hasStrayBytes(expression)) throw failure(expression, 'invalid UTF-8');
  /** The name of each group, '' for those without. Unlike in other engines, several groups can have the same. */
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
    /** How many instructions it has been compiled to: each may look at each character. */
    const size = compiled.programSize();
    meter.spend(size * compiling);
    return { matcher: (text: string) => compiled.matcher(text), size, names };
  } catch (error) {
    if (error instanceof LimitError) throw error;
    throw failure(expression, (error as Error).message.replace('error parsing regexp: ', ''));
  }
}

function failure(expression: string, reason: string): Error {
  return new Error(`regexp: Compile(\`${expression}\`): error parsing regexp: ${reason}`);
}
