import { isPair, isScalar, isSeq, LineCounter, visit } from 'yaml';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { describeJson } from '../../inject/kubernetes/pod-type-error.ts';
import { parseDocuments } from '../../inject/objects/read-documents.ts';

/** A place in a template. Lines and columns count from 1. */
export interface TemplatePlace {
  readonly line?: number;
  readonly column?: number;
}

/** Returns the first place of a whole word in a text; an empty object if there is none. */
export function placeOfWord(text: string, word: string | undefined): TemplatePlace {
  const pattern = word === undefined || word === '' ? /$^/ : new RegExp(`(?<![\\w-])${literally(word)}(?![\\w-])`);
  return placeAt(text, text.search(pattern));
}

/** Returns the source of a regular expression for a text. */
function literally(text: string): string {
  return text.replaceAll(/\W/g, '\\$&');
}

/** Returns the place of a field such as `spec.containers[0].image`: names follow one another. */
export function placeOfField(text: string, field: string): TemplatePlace {
  let at = -1;
  for (const name of field.split(/[.[\]"]+/).filter((each) => each !== '')) {
    const items = /^[^\n]*:\s*\n/.test(text.slice(at)) ? [...text.slice(at).matchAll(/^[ \t]*- /gm)] : [];
    const siblings = items.filter(([dash]) => dash === items[0]?.[0]);
    const key = new RegExp(`(?<![\\w.-])${literally(name)}["']?\\s*:|(?<=:\\s*["']?)${literally(name)}(?![\\w-])`, 'g');
    key.lastIndex = at + 1;
    if (/^\d+$/.test(name)) at += siblings[Number(name)]?.index ?? 0;
    else at = key.exec(text)?.index ?? at;
  }
  return placeAt(text, at);
}

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
  const lineCounter = new LineCounter();
  const starts: number[] = [];
  for (const document of parseDocuments(output, lineCounter))
    visit(document, {
      Pair(_, pair, path) {
        const names = [...path, pair].flatMap((each) => (isPair(each) && isScalar(each.key) ? [each.key.value] : []));
        const isField = names.join('.') === (invalid ?? mistyped);
        const value = isScalar(pair.value) ? pair.value.value : isSeq(pair.value) ? [] : {};
        if (isField && isScalar(pair.key) && fits(value)) starts.push(pair.key.range?.[0] ?? 0);
      },
    });
  const [start] = starts;
  return start === undefined ? undefined : lineCounter.linePos(start).line;
}

/** Precedes the output of each line of a template by the number of the line. */
const marks = /(?<=\uE000)\d+(?=\uE001)/g;

/** Marks the lines of a template, except where a mark would change what an action trims. */
function marked(text: string, [left = '', right = '']: readonly string[]): string {
  const [open, close] = [literally(left), literally(right)];
  const pattern = new RegExp(`^([ \\t]*)(${open}(?!-)[^]*?${close}|(?!${open})\\S)|${open}[^]*?${close}`, 'gm');
  return text.replaceAll(pattern, (all, space: string | undefined, rest: string, at: number) =>
    space === undefined ? all : `${space}\uE000${text.slice(0, at).split('\n').length}\uE001${rest}`,
  );
}
