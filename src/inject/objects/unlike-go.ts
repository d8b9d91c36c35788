import { FileError } from './file-error.ts';
import { positionsOfText, type SpanEntry, type SpanNode } from './positions-of-text.ts';

/** Texts that may be one of the problems below. */
const suspicious =
  /^[ \-?:]*\t|\\(?:\/|(?:u|U0000)[dD][89a-fA-F])|\w:[,\]}]|[[{,:]\s*[?:]\S|[[{,]\s*:|^%|[&*][\w-]*[^\w\s,[\]{}?:%@`-]/m;

const otherwise = 'kubectl reads this in another way; write quotes';

/** A text that Go refuses or reads otherwise. */
interface Problem {
  readonly reason: string;
  readonly offset: number;
}

/**
 * Finds what this parser reads, and Go's parser does not, or otherwise.
 * @param text a document that this parser has read
 */
export function unlikeGo(text: string): Problem | undefined {
  if (!suspicious.test(text)) return undefined;
  try {
    return problemIn(text, positionsOfText(text));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const found = /(?<=\w):[,\]}]/.exec(text);
    return found === null ? undefined : { reason: otherwise, offset: found.index };
  }
}

function problemIn(text: string, root: SpanNode): Problem | undefined {
  const [scalars, flows, entries]: [SpanNode[], SpanNode[], SpanEntry[]] = [[], [], []];
  const collect = (node: SpanNode, isInside: boolean): void => {
    if (node.kind === 'scalar' && /["'|>]/.test(text.charAt(node.start))) scalars.push(node);
    if (node.isFlow && !isInside) flows.push(node);
    entries.push(...node.entries);
    for (const { value } of node.entries) collect(value, isInside || node.isFlow);
  };
  collect(root, false);
  const find = (reason: string, pattern: RegExp, within: string, from = 0): Problem | undefined => {
    const found = pattern.exec(within);
    return found === null ? undefined : { reason, offset: from + found.index };
  };
  const outside = masked(text, scalars);
  for (const { start, end } of scalars.filter(({ start }) => text[start] === '"')) {
    const escape = find(
      'kubectl refuses this escape; write the character itself',
      /(?<!\\)(?:\\\\)*\\(?:\/|(?:u|U0000)[dD][89a-fA-F])/,
      text.slice(start, end),
      start,
    );
    if (escape !== undefined) return escape;
  }
  for (const { from, value } of entries.filter(({ value }) => value.hasAnchor || value.kind === 'alias')) {
    const before = text.slice(from, value.kind === 'alias' ? value.end : value.start);
    const name = find('kubectl refuses this character in an anchor', /[&*][\w-]*[^\w\s&*!-]/, before, from);
    if (name !== undefined) return name;
  }
  for (const { start, end } of flows) {
    const pattern = /(?<=\w):[,\]}]|[[{,]\s*(?:\?\S|:)|:\s+[?:]\S/;
    const other = find(otherwise, pattern, outside.slice(start, end), start);
    if (other !== undefined) return other;
  }
  const tab = find('kubectl refuses a tab as indentation; write spaces', /^[ \-?:]*\t/m, masked(outside, flows));
  return tab ?? find('kubectl refuses directives; remove the line', /^%/m, outside);
}

/** Replaces nodes, which are in their order, by as many x. */
function masked(text: string, nodes: readonly SpanNode[]): string {
  let at = 0;
  const parts = nodes.map(({ start, end }) => {
    const part = text.slice(at, start) + 'x'.repeat(end - start);
    at = end;
    return part;
  });
  return parts.join('') + text.slice(at);
}
