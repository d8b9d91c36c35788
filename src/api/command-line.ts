import { printable } from './printable-text.ts';

/**
 * The only builder of command lines: commandLine`kubectl describe ${kind}/${name}`. The words of
 * the template are the program's own; each hole is an argument or a part of one, whatever its
 * value: a POSIX shell splits the result into exactly these arguments. If a hole is not printable,
 * or would be an option instead of an argument, the result is a comment that shows only the form.
 */
export function commandLine(template: TemplateStringsArray, ...values: readonly string[]): string {
  const form = template.join('\0').split(' ');
  const holes = values.values();
  const words = form.map((word) => word.replaceAll('\0', () => holes.next().value ?? ''));
  const isOption = words.some((word, index) => word.startsWith('-') && form[index]?.startsWith('\0'));
  if (isOption || values.some((value) => value !== printable(value)))
    return `# ${template.join('…')}: type the values yourself, one begins with a dash or is not printable`;
  return words.map((word, index) => (form[index]?.includes('\0') ? quoted(word) : word)).join(' ');
}

/** Joins commands that belong together; a comment replaces all, because it would hide others. */
export function inSequence(commands: readonly string[]): string {
  if (!commands.some((each) => each.startsWith('#'))) return commands.join(' && ');
  return `# ${commands.map((each) => each.replace(/^# /, '')).join('; then ')}`;
}

/** Quotes an argument for a POSIX shell (2.2.2 Single-Quotes), unless all are plain characters. */
function quoted(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
