import { ConfigurationError } from '../errors.ts';

/**
 * Reads what a person asks for by an annotation, `<word>:<nonce>`: it is answered once, and the nonce, 1 to 63 characters of A-Z, a-z, 0-9 and `-`,
 * tells one request from the next.
 * @param annotation its name
 * @param words what can be asked for; of a-z and `-`, at most 20 characters
 * @throws ConfigurationError naming the annotation, its value and what it must be.
 */
export function parseAnnotationRequest<Word extends string>(
  annotation: string,
  words: readonly Word[],
  value: string,
): readonly [word: Word, nonce: string] {
  const [, asked, nonce = ''] = /^([a-z-]{1,20}):([A-Za-z0-9-]{1,63})$/.exec(value) ?? [];
  const word = words.find((known) => known === asked);
  if (word !== undefined) return [word, nonce];
  const field = `metadata.annotations[${annotation}]`;
  const given = JSON.stringify(value.slice(0, 100));
  const message = `${field}: ${given} is no request; write one of ${words.join(', ')}, a colon, and a word of your own (letters, digits, -) that was not used before`;
  throw new ConfigurationError(field, message);
}
