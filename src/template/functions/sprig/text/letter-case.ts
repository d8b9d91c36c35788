import { isAscii, toWellFormed } from '../../../go-string.ts';

/** Go's unicode.IsSpace. */
export const space = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** The digraphs: letters whose titlecase differs from their uppercase. */
const digraphs = ['Ǆǅǆ', 'Ǉǈǉ', 'Ǌǋǌ', 'Ǳǲǳ'];

/** Go's unicode.ToUpper of one character; returns exactly one character. */
export function upperCharacter(character: string): string {
  const upper = character.toUpperCase();
  if (Array.from(upper).length === 1) return upper;
  // JavaScript expands the uppercase of Greek with iota subscript, a single letter in Go.
  const code = character.codePointAt(0) as number;
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8);
  const single = { ᾳ: 'ᾼ', ῃ: 'ῌ', ῳ: 'ῼ' }[character];
  return single ?? character;
}

/** Go's unicode.ToLower of one character. */
export function lowerCharacter(character: string): string {
  return character === 'İ' ? 'i' : character.toLowerCase();
}

/** Go's unicode.ToTitle of one character. */
export function titleCharacter(character: string): string {
  const digraph = digraphs.find((forms) => forms.includes(character));
  if (digraph !== undefined) return digraph.charAt(1);
  // The titlecase of Georgian letters is not their uppercase.
  return /[\u10d0-\u10fa\u10fd-\u10ff]/.test(character) ? character : upperCharacter(character);
}

/** Go's strings.ToUpper. */
export function toUpper(text: string): string {
  return isAscii(text) ? text.toUpperCase() : mapCharacters(text, upperCharacter);
}

/** Go's strings.ToLower. */
export function toLower(text: string): string {
  return isAscii(text) ? text.toLowerCase() : mapCharacters(text, lowerCharacter);
}

/** Replaces each character; stray bytes first become U+FFFD, as in Go's strings.Map. */
export function mapCharacters(text: string, replace: (character: string, before: string) => string): string {
  let before = ' ';
  let result = '';
  for (const character of toWellFormed(text)) {
    result += replace(character, before);
    before = character;
  }
  return result;
}

/** Go's strings.Title: titlecases the first letter of each run of letters, digits and _. */
export function toTitle(text: string): string {
  return mapCharacters(text, (character, before) => (separates(before) ? titleCharacter(character) : character));
}

function separates(character: string): boolean {
  if (isAscii(character)) return !/[0-9A-Za-z_]/.test(character);
  return !/[\p{L}\p{Nd}]/u.test(character) && space.test(character);
}

/** goutils.Uncapitalize: lowercases the first character of words; only spaces separate words. */
export function untitle(text: string): string {
  return mapCharacters(text, (character, before) => (space.test(before) ? lowerCharacter(character) : character));
}

/** goutils.SwapCase: exchanges cases, but titlecases a lowercase letter at the start of a word. */
export function swapCase(text: string): string {
  return mapCharacters(text, (character, before) => {
    if (/[\p{Lu}\p{Lt}]/u.test(character)) return lowerCharacter(character);
    if (!/\p{Ll}/u.test(character)) return character;
    return space.test(before) ? titleCharacter(character) : upperCharacter(character);
  });
}
