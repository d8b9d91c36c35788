import { hostileData } from '../hostile/hostile-texts.ts';

const { repeated, usual } = hostileData;

/** What follows the repetition: with a letter, a reader which has come that far has to give up. */
const ends: readonly string[] = ['', 'x'];

/** Texts of a length, by a name. */
export interface TextFamily {
  readonly name: string;
  readonly text: (length: number) => string;
}

/** @param thorough with everything that can be repeated and all that can follow */
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

/** Pairs of a short and a long text where searching for the one in the other is hardest. */
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
