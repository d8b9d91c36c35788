import { canonical, toWellFormed } from '../../../go-string.ts';
import { lowerCharacter, space, upperCharacter } from './letter-case.ts';

type Test = (character: string) => boolean;
const isConnector: Test = (character) => character === '-' || character === '_' || space.test(character);
const isUpper: Test = (character) => /\p{Lu}/u.test(character);
const isPunctuation: Test = (character) => /\p{P}/u.test(character);
const isNumber: Test = (character) => /\p{N}/u.test(character);

/** xstrings.ToPascalCase: `foo_bar` → `FooBar`. Keeps leading connectors. */
export function pascalCase(text: string): string {
  const characters = Array.from(toWellFormed(text));
  const start = characters.findIndex((character) => !isConnector(character));
  // A text of only connectors gets the last connector twice.
  if (start < 0) return text + (characters.at(-1) ?? '');
  let result = characters.slice(0, start).join('');
  const first = characters[start] as string;
  if (start === characters.length - 1) return result + upperCharacter(first);
  let lowering = isUpper(first);
  let pending = upperCharacter(first);
  for (const character of characters.slice(start + 1)) {
    let next = character;
    if (isConnector(character) && isConnector(pending)) {
      result += pending;
    } else if (isConnector(pending)) {
      lowering = isUpper(character);
      next = upperCharacter(character);
    } else {
      if (lowering && isUpper(character)) next = lowerCharacter(character);
      else lowering = false;
      result += pending;
    }
    pending = next;
  }
  return result + pending;
}

type WordType = 'none' | 'number' | 'upper' | 'alphabet' | 'connector' | 'punctuation' | 'other';

interface Word {
  readonly type: WordType;
  readonly text: string;
  /** The start of the next word. */
  readonly end: number;
}

/** A character with adjacent invalid text, which is ignored. */
interface Rune {
  readonly text: string;
  readonly character: string;
}

function runesOf(text: string): Rune[] {
  const runes: Rune[] = [];
  let before = '';
  for (const character of canonical(text)) {
    if (/[\ufffd\udc80-\udcff]/u.test(character)) {
      before += character;
    } else {
      runes.push({ text: before + character, character });
      before = '';
    }
  }
  const last = runes.pop();
  if (last !== undefined) runes.push({ text: last.text + before, character: last.character });
  else if (before !== '') runes.push({ text: before, character: '\ufffd' });
  return runes;
}

/** Accepts letters except Chinese characters (in xstrings' ranges). */
const isAlphabet: Test = (character) =>
  /\p{L}/u.test(character) && !/[\u4e00-\u9fcc\u3400-\u4d85\u{20000}-\u{2b81d}]/u.test(character);

/** Splits at changes of kind; the last of several capitals starts the next word (HTTP|Server). */
function wordAt(runes: readonly Rune[], start: number): Word {
  const first = runes[start]?.character;
  if (first === undefined) return { type: 'none', text: '', end: start };
  const at = (index: number): string => runes[index]?.character ?? '';
  const until = (accept: Test): number => {
    let end = start + 1;
    while (end < runes.length && accept(at(end))) end += 1;
    return end;
  };
  const word = (type: WordType, end: number): Word => {
    const texts = runes.slice(start, end).map(({ text }) => text);
    return { type, text: texts.join(''), end };
  };
  if (first === '\ufffd') return word('none', start + 1);
  if (isConnector(first)) return word('connector', until(isConnector));
  if (isPunctuation(first)) return word('punctuation', until(isPunctuation));
  const lower: Test = (character) => isAlphabet(character) && !isUpper(character);
  if (isUpper(first)) {
    if (!isUpper(at(start + 1))) return word('upper', until(lower));
    const end = until(isUpper);
    return word('upper', isAlphabet(at(end)) ? end - 1 : end);
  }
  if (isAlphabet(first)) return word('alphabet', until(lower));
  if (isNumber(first)) return word('number', until(isNumber));
  const kinds = [isConnector, isPunctuation, isNumber, isAlphabet];
  const isOther: Test = (character) => !kinds.some((is) => is(character));
  return word('other', until(isOther));
}

function lowered({ type, text }: Word, connector: string): string {
  if (type !== 'upper' && type !== 'connector') return text;
  return Array.from(toWellFormed(text), (character) =>
    isConnector(character) ? connector : lowerCharacter(character),
  ).join('');
}

/** xstrings.ToSnakeCase (connector `_`), ToKebabCase (`-`): `HTTPServer20x` → `http_server_20x`. */
export function separatedCase(text: string, connector: string): string {
  const characters = runesOf(text);
  let word = wordAt(characters, 0);
  let result = '';
  const write = (): void => {
    result += lowered(word, connector);
    word = wordAt(characters, word.end);
  };
  const separate = (...except: readonly WordType[]): void => {
    if (!except.includes(word.type)) result += connector;
  };
  const writeNumber = (): void => {
    while (word.type === 'alphabet' || word.type === 'number') write();
    separate('none', 'punctuation', 'connector');
  };
  while (word.end < characters.length) {
    const previous = word;
    if (previous.type !== 'connector') result += lowered(previous, connector);
    word = wordAt(characters, previous.end);
    switch (previous.type) {
      case 'number':
        writeNumber();
        break;
      case 'connector':
        result += lowered(previous, connector);
        break;
      case 'punctuation':
        break;
      default: {
        const number = word;
        if (number.type === 'number') {
          if (number.end >= characters.length) break;
          word = wordAt(characters, number.end);
          // A number belongs to the previous word unless lowercase letters follow.
          if (word.type === 'alphabet') {
            result += connector + number.text;
            writeNumber();
            break;
          }
          result += number.text;
        }
        separate('connector', 'punctuation');
      }
    }
  }
  return result + lowered(word, connector);
}
