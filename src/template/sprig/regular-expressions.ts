import { goFunction } from '../go-function.ts';
import type { FunctionTable } from '../go-function.ts';
import { integer, string } from '../parameters.ts';
import { TypedValue } from '../typed-value.ts';
import { stringSliceType } from '../go-type.ts';
import { stringSlice } from './elements.ts';
import { compileExpression as compile } from './regular-expression.ts';
import type { RegularExpression } from './regular-expression.ts';

/** Where an expression matched: start and end of the whole and of each group (-1 for one that took no part). */
interface Match {
  readonly start: number;
  readonly end: number;
  /** What a group matched; `undefined` when it took no part or does not exist. */
  readonly group: (group: number) => string | undefined;
}

/** All matches by Go's rule: an empty one right after another does not count. */
function* matches(expression: RegularExpression, text: string): Generator<Match> {
  const matcher = expression.matcher(text);
  let previousEnd = -1;
  for (let from = 0; from <= text.length && matcher.find(from);) {
    const start = matcher.start();
    const end = matcher.end();
    if (end > start || start !== previousEnd) yield { start, end, group: (group) => matcher.group(group) ?? undefined };
    previousEnd = end;
    const width = (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    from = end > start ? end : end + width;
  }
}

function find(expression: string, text: string): string {
  for (const match of matches(compile(expression), text)) return text.slice(match.start, match.end);
  return '';
}

/** At most `count` matches (all of them when negative); nil when there is none. */
function findAll(expression: string, text: string, count: bigint): TypedValue {
  const compiled = compile(expression);
  const found: string[] = [];
  for (const match of matches(compiled, text)) {
    if (count >= 0n && BigInt(found.length) >= count) break;
    found.push(text.slice(match.start, match.end));
  }
  return found.length === 0 ? new TypedValue(stringSliceType, null) : stringSlice(found);
}

function replaceAll(expression: string, text: string, replacement: (match: Match) => string): string {
  let result = '';
  let end = 0;
  for (const match of matches(compile(expression), text)) {
    result += text.slice(end, match.start) + replacement(match);
    ({ end } = match);
  }
  return result + text.slice(end);
}

const reference = /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))|\$/gu;

/** Go's Regexp.Expand: $1, $name, ${name}, $$; the longest possible name counts, an unknown one is empty. */
function expand(template: string, match: Match, { names }: RegularExpression): string {
  return template.replace(reference, (_whole, braced: string | undefined, bare: string | undefined) => {
    const name = braced ?? bare;
    if (name === undefined) return '$';
    if (/^(?:0|[1-9][0-9]*)$/.test(name)) return Number(name) <= names.length ? (match.group(Number(name)) ?? '') : '';
    const groups = names.flatMap((known, index) => (known === name ? [index + 1] : []));
    return groups.map((group) => match.group(group)).find((text) => text !== undefined) ?? '';
  });
}

/** Go's Regexp.Split: at most `count` parts (all when negative, none when 0). */
function split(expression: string, text: string, count: bigint): TypedValue {
  const compiled = compile(expression);
  if (count === 0n) return new TypedValue(stringSliceType, null);
  if (expression !== '' && text === '') return stringSlice(['']);
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of matches(compiled, text)) {
    if (count > 0n && BigInt(parts.length) === count - 1n) break;
    ({ start: end } = match);
    if (match.end !== 0) parts.push(text.slice(begin, end));
    begin = match.end;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return stringSlice(parts);
}

function isMatch(expression: string, text: string): boolean {
  return compile(expression).matcher(text).find();
}

const regexFind = goFunction([string, string], find);
const regexFindAll = goFunction([string, string, integer], findAll);
const regexReplaceAll = goFunction([string, string, string], (expression, text, template) => {
  const compiled = compile(expression);
  return replaceAll(expression, text, (match) => expand(template, match, compiled));
});
const regexReplaceAllLiteral = goFunction([string, string, string], (expression, text, replacement) =>
  replaceAll(expression, text, () => replacement),
);
const regexSplit = goFunction([string, string, integer], split);

/** sprig's regular expressions: RE2 syntax, time linear in the text. */
export const regularExpressionFunctions: FunctionTable = {
  mustRegexFind: regexFind,
  mustRegexFindAll: regexFindAll,
  mustRegexMatch: goFunction([string, string], isMatch),
  mustRegexReplaceAll: regexReplaceAll,
  mustRegexReplaceAllLiteral: regexReplaceAllLiteral,
  mustRegexSplit: regexSplit,
  regexFind,
  regexFindAll,
  regexMatch: goFunction([string, string], (expression, text) => {
    try {
      return isMatch(expression, text);
    } catch {
      // sprig ignores the error of a wrong expression here, and here only.
      return false;
    }
  }),
  regexQuoteMeta: goFunction([string], (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
  regexReplaceAll,
  regexReplaceAllLiteral,
  regexSplit,
};
