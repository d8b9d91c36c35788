import { hostileData } from '../hostile/hostile-texts.ts';

const { repeated, usual } = hostileData;

/** The end of a text. A letter makes an expression fail after it has matched the repetition. */
const ends: readonly string[] = ['', 'x'];

/** A kind of text, of any length. */
export interface TextFamily {
  readonly name: string;
  readonly text: (length: number) => string;
}

/** Returns families of texts; if `thorough`, with all repeated parts. */
export function textFamilies(thorough: boolean): TextFamily[] {
  return repeated
    .filter((part) => thorough || usual.includes(part))
    .flatMap((part) =>
      ends.map((end) => ({
        name: `${JSON.stringify(part)}…${end === '' ? '' : JSON.stringify(end)}`,
        text: (length: number) => part.repeat(Math.max(1, Math.floor((length - end.length) / part.length))) + end,
      })),
    );
}

/** Pairs of a pattern and a text for which the search is slowest. */
export const searchFamilies: readonly {
  readonly name: string;
  readonly texts: (length: number) => [string, string];
}[] = [
  { name: 'ba…a in a…', texts: (length) => [`b${'a'.repeat(length / 2)}`, 'a'.repeat(length)] },
  { name: 'a…ab in a…', texts: (length) => [`${'a'.repeat(length / 2)}b`, 'a'.repeat(length)] },
  {
    name: 'a…ba…a in a…',
    texts: (length) => [`${'a'.repeat(length / 4)}b${'a'.repeat(length / 4)}`, 'a'.repeat(length)],
  },
  { name: 'ab…a in (ab)…', texts: (length) => [`${'ab'.repeat(length / 4)}a a`, 'ab'.repeat(length / 2)] },
  { name: 'equal', texts: (length) => ['a'.repeat(length), 'a'.repeat(length)] },
  { name: 'a in a…', texts: (length) => ['a', 'a'.repeat(length)] },
  { name: 'nothing in a…', texts: (length) => ['', 'a'.repeat(length)] },
];
