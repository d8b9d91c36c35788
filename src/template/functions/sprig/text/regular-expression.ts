import { RE2JS } from 're2js';
import { hasStrayBytes } from '../../../go-string.ts';
import { LimitError, type Meter } from '../../../exec/meter.ts';

/** A compiled expression in Go's syntax (RE2). */
export type RegularExpression = Readonly<ReturnType<typeof compileExpression>>;

/** The maximum length of an expression in characters. Compilation takes more than linear time. */
const longest = 1000;

/** The tokens of an expression, as far as needed to find its groups. */
const token =
  /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\(?:[^]|$)|[^\]\\])*(?:\]|$)|\(\?P?<(?![=!])([A-Za-z0-9_]+)>|\(\?(?:<[=!]|[=!])|\((?!\?)/g;

/** The cost of compilation, for each character and each resulting instruction. */
const compiling = 256;
/** The additional cost of a Unicode class, which has hundreds of ranges. */
const unicodeClass = 16_384;

/** Compiles a regular expression. @throws Error with Go's message */
export function compileExpression(meter: Meter, expression: string) {
  if (expression.length > longest) throw failure(expression.slice(0, 40), 'expression too large');
  meter.spend(expression.length * compiling + (expression.match(/\\[pP]/g)?.length ?? 0) * unicodeClass);
  if (hasStrayBytes(expression)) throw failure(expression, 'invalid UTF-8');
  /** The name of each group; '' for an unnamed group. As in Go, several groups can share a name. */
  const names: string[] = [];
  // The engine requires unique names, so this numbers the groups instead.
  const numbered = expression.replace(token, (part: string, name: string | undefined) => {
    if (/^\(\?<?[=!]/.test(part)) throw failure(expression, `invalid or unsupported Perl syntax: \`${part}\``);
    if (part !== '(' && name === undefined) return part;
    names.push(name ?? '');
    return '(';
  });
  try {
    const compiled = RE2JS.compile(numbered);
    /** The number of instructions, each of which may visit each character. */
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
