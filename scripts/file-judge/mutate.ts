import type { Random } from '../template-recorder/random.ts';

const characters = Array.from('{}[]:,"\'&*!|>-#%@`?\\ \t\n\r\0\u0085\u2028\u00e9.0a=<~');

/** Returns a text with one or two mistakes. Some of the results are still valid. */
export function mutated(text: string, random: Random): string {
  const once = mistake(text, random);
  return (random.chance(0.3) ? mistake(once, random) : once).toWellFormed();
}

function mistake(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const nextLine = text.indexOf('\n', at) + 1 || text.length;
  const places = Array.from(text.matchAll(/[{}[\]"':,-]/g), ({ index }) => index);
  const place = places.length === 0 ? at : random.pick(places);
  const mistakes: (() => string)[] = [
    () => text.slice(0, at),
    () => text.slice(0, place) + text.slice(place + 1),
    () => text.slice(0, at) + random.pick(characters) + text.slice(at),
    () => text.slice(0, place) + random.pick(characters) + text.slice(place + 1),
    () => text.slice(0, lineStart) + random.pick([' ', '  ', '\t', '- ']) + text.slice(lineStart),
    () => text.slice(0, lineStart) + text.slice(lineStart).replace(/^ {1,2}/, ''),
    () => text.slice(0, lineStart) + text.slice(nextLine),
    () => text.slice(0, nextLine) + text.slice(lineStart),
    () =>
      `${text.slice(0, lineStart)}${random.pick(['{{ if .Values.x }}', '{{- end }}', '<<<<<<< HEAD', '---x', '...', '--- {}'])}\n${text.slice(lineStart)}`,
    () =>
      text.slice(0, at) +
      random.pick(['{{ .Values.x }}', '\n---\n', '*a1', '&a1 ', '!!int ', ': ', ' #']) +
      text.slice(at),
  ];
  return random.pick(mistakes)();
}
