/** Matches text that YAML, JSON and the shell read as plain, even if an end is cut off. */
const harmless = /^[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?$/;
/** YAML's null words, which would delete a field. */
const nullWord = /^(?:null|Null|NULL)$/;

/** Reports whether a text cannot change the structure around it. */
export function isHarmless(text: string): boolean {
  return text === '' || (harmless.test(text) && !nullWord.test(text));
}

/** The tag and digest of an image, which templates do not truncate. */
const tagAndDigest = /(?::\w(?:[\w.-]*\w)?)?(?:@[A-Za-z0-9]+:[A-Za-z0-9]+)?$/;

/** Reports whether an image reference cannot change the structure around it. */
export function isHarmlessImage(text: string): boolean {
  const name = text.replace(tagAndDigest, '');
  return name === '' ? text === '' : isHarmless(name);
}

/** Texts of many kinds, for templates that require a format. */
export const plainTexts = ['x', '0', '8', 'true', 'false', 'a.b', '1.2.3', 'x=y', '{}', '[]'] as const;
/** Also texts of other formats: a host and a port, a list, a duration, base64 and a date. */
export const harmlessTexts = [...plainTexts, 'x:8', 'x,8', '[8]', '1h', 'e30=', '2000-01-01'] as const;

/** Returns a similar harmless text, with `_` for all except letters, digits and inner `./-`. */
export function benignCounterpart(text: string): string {
  const counterpart = text.replace(/[^A-Za-z0-9./-]|^[./-]|[./-]$|[./-](?![A-Za-z0-9])/g, '_');
  return nullWord.test(counterpart) ? `${counterpart.slice(0, -1)}_` : counterpart;
}

/** Returns the longest harmless substring, for templates that refuse the counterpart. */
export function harmlessPiece(text: string): string {
  const pieces = text.match(/[A-Za-z0-9]+/g) ?? ['x'];
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best));
  return nullWord.test(longest) ? 'x' : longest;
}

/** Returns a text of the same pattern in which every letter and digit differs. */
export function otherLetters(text: string): string {
  const other = text.replace(/[A-Za-z0-9]/g, (letter) => {
    if (letter === 'z') return 'a';
    if (letter === 'Z') return 'A';
    return letter === '9' ? '1' : String.fromCharCode(letter.charCodeAt(0) + 1);
  });
  return other === text ? `x${text}` : other;
}
