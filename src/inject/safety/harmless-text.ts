/** What means nothing to YAML, JSON and the shell wherever it stands, also when its beginning or end is cut off. */
const harmless = /^[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?$/;
/** Except for the words that YAML takes for nothing, which deletes a field. */
const nullWord = /^(?:null|Null|NULL)$/;

/** Whether a text cannot change the structure of what it is put into. What becomes of an empty text is the same as its twin's, which is empty. */
export function isHarmless(text: string): boolean {
  return text === '' || (harmless.test(text) && !nullWord.test(text));
}

/** Images have a tag and a digest; nobody cuts them. */
const tagAndDigest = /(?::\w(?:[\w.-]*\w)?)?(?:@[A-Za-z0-9]+:[A-Za-z0-9]+)?$/;

/** {@link isHarmless} for the reference of an image. */
export function isHarmlessImage(text: string): boolean {
  const name = text.replace(tagAndDigest, '');
  return name === '' ? text === '' : isHarmless(name);
}

/** A harmless text that looks like the given one: what is not a letter or digit becomes `_`, but for `.`, `/` and `-` inside. */
export function benignTwin(text: string): string {
  const twin = text.replace(/[^A-Za-z0-9./-]|^[./-]|[./-]$|[./-](?![A-Za-z0-9])/g, '_');
  return nullWord.test(twin) ? `${twin.slice(0, -1)}_` : twin;
}

/** The longest harmless piece of a text: a twin for templates that refuse the other one. */
export function harmlessPiece(text: string): string {
  const pieces = text.match(/[A-Za-z0-9]+/g) ?? ['x'];
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best));
  return nullWord.test(longest) ? 'x' : longest;
}

/** A twin with other letters and digits: what holds the one text holds the other afterwards. */
export function otherLetters(text: string): string {
  const other = text.replace(/[A-Za-z0-9]/g, (letter) => {
    if (letter === 'z') return 'a';
    if (letter === 'Z') return 'A';
    return letter === '9' ? '1' : String.fromCharCode(letter.charCodeAt(0) + 1);
  });
  return other === text ? `x${text}` : other;
}
