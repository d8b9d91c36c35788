import { quoteString } from '../quote.ts';

/** The types of tokens; keywords are their own types. */
export type TokenType =
  | 'error'
  | 'boolean'
  | 'char' // a printable ASCII character; grab bag for comma etc.
  | 'characterConstant'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'end of input'
  | 'field'
  | 'identifier'
  | 'left delimiter'
  | 'left parenthesis'
  | 'number'
  | 'pipe'
  | 'raw string'
  | 'right delimiter'
  | 'right parenthesis'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

export type Keyword =
  '.' | 'block' | 'break' | 'continue' | 'define' | 'else' | 'end' | 'if' | 'range' | 'nil' | 'template' | 'with';

const keywords: ReadonlySet<string> = new Set<Keyword>([
  '.',
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'nil',
  'template',
  'with',
]);

/** Reports whether a word or token type is a keyword. */
export function isKeyword(word: string): word is Keyword {
  return keywords.has(word);
}

export interface Token {
  readonly type: TokenType;
  /** Index into the template's text. */
  readonly position: number;
  /** The text of the token, or the message of an error. */
  readonly value: string;
}

/** Formats a token (except an error) for messages: `<end>` or `"foo"`, cut after ten characters. */
export function describeToken(token: Token): string {
  if (isKeyword(token.type)) return `<${token.value}>`;
  const characters = Array.from(token.value);
  return characters.length > 10 ? `${quoteString(characters.slice(0, 10).join(''))}...` : quoteString(token.value);
}
