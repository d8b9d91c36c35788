import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { describeJson } from '../../inject/kubernetes/pod-type-error.ts';
import { parseYaml } from '../../inject/yaml/parse-yaml.ts';
import { positionsOfText } from '../../inject/objects/positions-of-text.ts';
import type { SpanNode } from '../../inject/yaml/read-nodes.ts';
import { positionAt } from '../../inject/objects/file-error.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';

/** A place in a template. Lines and columns count from 1. */
export interface TemplatePlace {
  readonly line?: number;
  readonly column?: number;
}

/** Returns the first place of a whole word in a text; an empty object if there is none. */
export function placeOfWord(text: string, word: string | undefined): TemplatePlace {
  return word === undefined
    ? {}
    : placeAt(
        text,
        findWord(text, word, 0, () => true),
      );
}

/** Returns where a whole word begins at or after a position; -1 if there is none. Linear time. */
function findWord(text: string, word: string, from: number, fits: (at: number) => boolean): number {
  const isPart = (at: number): boolean => /[\w-]/.test(text[at] ?? '');
  let at = word === '' ? -1 : text.indexOf(word, from);
  while (at !== -1 && (isPart(at - 1) || isPart(at + word.length) || !fits(at))) at = text.indexOf(word, at + 1);
  return at;
}

/** Returns the place of a field such as `spec.containers[0].image`: names follow one another. */
export function placeOfField(text: string, field: string): TemplatePlace {
  let at = -1;
  for (const name of field.split(/[.[\]"]+/).filter((each) => each !== '')) {
    if (/^\d+$/.test(name)) {
      const items = /^[^\n]*:\s*\n/.test(text.slice(at)) ? [...text.slice(at).matchAll(/^[ \t]*- /gm)] : [];
      const siblings = items.filter(([dash]) => dash === items[0]?.[0]);
      at += siblings[Number(name)]?.index ?? 0;
      continue;
    }
    // A key, or the value of a key.
    const fits = (found: number): boolean => {
      const after = text.slice(found + name.length, found + name.length + nearby);
      const before = text.slice(Math.max(0, found - nearby), found);
      return (!before.endsWith('.') && /^["']?\s*:/.test(after)) || /:\s*["']?$/.test(before);
    };
    const found = findWord(text, name, at + 1, fits);
    if (found !== -1) at = found;
  }
  return placeAt(text, at);
}

/** How many characters around a name to read. */
const nearby = 20;

function placeAt(text: string, at: number): TemplatePlace {
  if (at < 0) return {};
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Returns the place in a template that printed the part of an output that a message refuses.
 * @param render renders a template for the pod of the message
 */
export function placeOfFailure(
  text: string,
  message: string,
  { delimiters }: Pick<InjectionSettings, 'delimiters'>,
  render: (text: string) => string,
): TemplatePlace {
  const line = refusedLine(render(text), message);
  if (line === undefined) return {};
  const lines = render(marked(text, delimiters)).split('\n').slice(0, line);
  const [first] = lines.pop()?.match(marks) ?? [];
  const source = Number(first ?? lines.join('').match(marks)?.at(-1) ?? NaN);
  const found = text.split('\n')[source - 1];
  return found === undefined ? {} : { line: source, column: found.length - found.trimStart().length + 1 };
}

/** Returns the line of an output that a message refuses: Go names a field without list indexes. */
function refusedLine(output: string, message: string): number | undefined {
  const [, line] = /yaml: line (\d{1,7}):/.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  const [, found, mistyped] = /cannot unmarshal (\w+).* into Go struct field \w+\.(\S+) of type/.exec(message) ?? [];
  const [, value, invalid] = /("(?:[^"\\]|\\.)*") in (\S+)$/.exec(message) ?? [];
  const fits = (each: unknown): boolean =>
    invalid === undefined ? describeJson(each) === found : JSON.stringify(String(each)) === value;
  const starts: number[] = [];
  const visit = (node: SpanNode, value: unknown, names: readonly string[]): void => {
    for (const [index, entry] of node.entries.entries()) {
      const member = Array.isArray(value)
        ? (value as unknown[])[index]
        : isJsonObject(value)
          ? value[entry.key]
          : value;
      const path = node.kind === 'map' ? [...names, entry.key] : names;
      const isField = node.kind === 'map' && path.join('.') === (invalid ?? mistyped);
      if (isField && fits(member)) starts.push(entry.start);
      visit(entry.value, member, path);
    }
  };
  try {
    visit(positionsOfText(output), parseYaml(output), []);
  } catch {
    return undefined;
  }
  const [start] = starts;
  return start === undefined ? undefined : positionAt(output, start).line;
}

/** Precedes the output of each line of a template by the number of the line. */
const marks = /(?<=\uE000)\d+(?=\uE001)/g;

/** Marks the lines of a template, except where a mark would change what an action trims. */
function marked(text: string, [left = '', right = '']: readonly string[]): string {
  const parts: string[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const open = text.indexOf(left, at);
    const end = open === -1 ? text.length : open;
    const isMarkable = open !== -1 && text[open + left.length] !== '-';
    const plain = text.slice(at, end).split('\n');
    for (const [index, each] of plain.entries()) {
      const begins = index > 0 || at === 0 || text[at - 1] === '\n';
      const content = each.trimStart();
      const isShown = content !== '' || (index === plain.length - 1 && isMarkable);
      const mark = begins && isShown ? `\uE000${line + index}\uE001` : '';
      parts.push(each.slice(0, each.length - content.length), mark, content, index === plain.length - 1 ? '' : '\n');
    }
    const close = open === -1 ? -1 : text.indexOf(right, open);
    const next = open === -1 || close === -1 ? text.length : close + right.length;
    const action = text.slice(end, next);
    parts.push(action);
    line += plain.length - 1 + action.split('\n').length - 1;
    at = next;
  }
  return parts.join('');
}
