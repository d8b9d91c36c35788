import { ConfigurationError } from '../errors.ts';

/**
 * Parses a user's request in an annotation, `<word>:<nonce>`. The operator answers each nonce (1 to
 * 63 characters of A-Z, a-z, 0-9 and `-`) once.
 * @param annotation the name of the annotation
 * @param words the allowed words, each of at most 20 characters of a-z and `-`
 * @throws ConfigurationError that names the annotation, its value and the allowed form
 */
export function parseAnnotationRequest<Word extends string>(
  annotation: string,
  words: readonly Word[],
  value: string,
): readonly [word: Word, nonce: string] {
  const [, found, nonce = ''] = /^([a-z-]{1,20}):([A-Za-z0-9-]{1,63})$/.exec(value) ?? [];
  const word = words.find((known) => known === found);
  if (word !== undefined) return [word, nonce];
  const field = `metadata.annotations[${annotation}]`;
  const shown = JSON.stringify(value.slice(0, 100));
  const message = `${field}: ${shown} is not a request; write one of ${words.join(', ')}, then a colon, then a new identifier of letters, digits and hyphens`;
  throw new ConfigurationError(field, message);
}
