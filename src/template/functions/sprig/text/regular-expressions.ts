import { RE2JS, type Matcher } from 're2js';
import { goFunction, meteredFunction, type FunctionTable } from '../../go/go-function.ts';
import { cost, LimitError, orElse, type Meter } from '../../../exec/meter.ts';
import { hasStrayBytes } from '../../../go-string.ts';
import { integer, string } from '../../../exec/parameters.ts';
import { TypedValue } from '../../../typed-value.ts';
import { stringSliceType } from '../../../go-type.ts';
import { stringSlice, withForms } from '../elements.ts';

/** A compiled expression in Go's syntax (RE2). */
type RegularExpression = Readonly<ReturnType<typeof compile>>;

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
function compile(meter: Meter, expression: string) {
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

/** Makes a search for the next match; charges all instructions for the whole remaining text. */
function searcher(meter: Meter, matcher: Matcher, size: number, rest: number): (from: number) => boolean {
  return (from) => {
    meter.spend(cost.element + (rest - from) * size);
    return matcher.find(from);
  };
}

/** Yields all matches as Go does: skips an empty match that is adjacent to another match. */
function* matches(meter: Meter, expression: RegularExpression, text: string): Generator<Matcher> {
  const matcher = expression.matcher(text);
  const find = searcher(meter, matcher, expression.size, text.length);
  let previousEnd = -1;
  for (let from = 0; from <= text.length && find(from);) {
    const start = matcher.start();
    const end = matcher.end();
    if (end > start || start !== previousEnd) yield matcher;
    previousEnd = end;
    const width = (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    from = end > start ? end : end + width;
  }
}

function find(meter: Meter, expression: string, text: string): string {
  for (const match of matches(meter, compile(meter, expression), text)) return text.slice(match.start(), match.end());
  return '';
}

/** Returns at most `count` matches (all if negative); nil if there is none. */
function findAll(meter: Meter, expression: string, text: string, count: bigint): TypedValue {
  const compiled = compile(meter, expression);
  const found: string[] = [];
  for (const match of matches(meter, compiled, text)) {
    if (count >= 0n && BigInt(found.length) >= count) break;
    found.push(text.slice(match.start(), match.end()));
  }
  return found.length === 0 ? new TypedValue(stringSliceType, null) : stringSlice(found);
}

function replaceAll(
  meter: Meter,
  expression: RegularExpression,
  text: string,
  replacement: (match: Matcher) => string,
): string {
  let result = '';
  let end = 0;
  for (const match of matches(meter, expression, text)) {
    result += text.slice(end, match.start()) + replacement(match);
    end = match.end();
  }
  return result + text.slice(end);
}

const reference = /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))|\$/gu;

/** Go's Regexp.Expand: $1, $name, ${name}, $$; uses the longest name; unknown names are empty. */
function expand(meter: Meter, template: string, match: Matcher, { names }: RegularExpression): string {
  meter.spend(template.length);
  const taken = (text: string | null = null): string => {
    meter.spend(cost.step + (text?.length ?? 0));
    return text ?? '';
  };
  return template.replace(reference, (_whole, braced: string | undefined, bare: string | undefined) => {
    const name = braced ?? bare;
    if (name === undefined) return '$';
    if (/^(?:0|[1-9][0-9]*)$/.test(name)) return Number(name) <= names.length ? taken(match.group(Number(name))) : '';
    meter.spend(names.length);
    const groups = names.flatMap((known, index) => (known === name ? [index + 1] : []));
    return taken(groups.map((group) => match.group(group)).find((text) => text !== null));
  });
}

/** Go's Regexp.Split: returns at most `count` parts (all if negative, none if 0). */
function split(meter: Meter, expression: string, text: string, count: bigint): TypedValue {
  const compiled = compile(meter, expression);
  if (count === 0n) return new TypedValue(stringSliceType, null);
  if (expression !== '' && text === '') return stringSlice(['']);
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of matches(meter, compiled, text)) {
    if (count > 0n && BigInt(parts.length) === count - 1n) break;
    end = match.start();
    if (match.end() !== 0) parts.push(text.slice(begin, end));
    begin = match.end();
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return stringSlice(parts);
}

function isMatch(meter: Meter, expression: string, text: string): boolean {
  const compiled = compile(meter, expression);
  return searcher(meter, compiled.matcher(text), compiled.size, text.length)(0);
}

/** sprig's regular expressions, in RE2 syntax and time linear in the text. */
export const regularExpressionFunctions: FunctionTable = {
  ...withForms('must', {
    regexFind: meteredFunction([string, string], find),
    regexFindAll: meteredFunction([string, string, integer], findAll),
    regexReplaceAll: meteredFunction([string, string, string], (meter, expression, text, template) => {
      const compiled = compile(meter, expression);
      return replaceAll(meter, compiled, text, (match) => expand(meter, template, match, compiled));
    }),
    regexReplaceAllLiteral: meteredFunction([string, string, string], (meter, expression, text, replacement) =>
      replaceAll(meter, compile(meter, expression), text, () => {
        meter.spend(replacement.length);
        return replacement;
      }),
    ),
    regexSplit: meteredFunction([string, string, integer], split),
  }),
  mustRegexMatch: meteredFunction([string, string], isMatch),
  // sprig ignores the error of an invalid expression only here.
  regexMatch: meteredFunction([string, string], (meter, expression, text) =>
    orElse(() => isMatch(meter, expression, text), false),
  ),
  regexQuoteMeta: goFunction([string], (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
