/**
 * Characters that control a terminal, or change how the text around them is shown: categories Cc,
 * Cf, Zl and Zp of Unicode, and surrogates without a partner.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Writes unprintable characters as `\u{202e}`; `layout` lists those that stay. */
export function printable(text: string, layout = ''): string {
  return text.replaceAll(unprintable, (each) => (layout.includes(each) ? each : `\\u{${hexOf(each)}}`));
}

/** Returns data as JSON without unprintable characters; parsers read equal data. */
export function jsonText(data: unknown, indentation?: number): string {
  return escapeJson(JSON.stringify(data, undefined, indentation));
}

/** Escapes unprintable characters in JSON. A line break is layout, because strings have none. */
export function escapeJson(json: string): string {
  const escape = (each: string): string => each.replace(/[^]/g, (unit) => `\\u${hexOf(unit).padStart(4, '0')}`);
  return json.replaceAll(unprintable, (each) => (each === '\n' ? each : escape(each)));
}

/** Escapes unprintable characters in YAML; strings with such characters must be double-quoted. */
export function escapeYaml(yaml: string): string {
  return yaml.replaceAll(unprintable, (each) => (each === '\n' ? each : `\\U${hexOf(each).padStart(8, '0')}`));
}

const hexOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);
