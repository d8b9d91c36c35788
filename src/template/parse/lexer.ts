import { quoteString, isPrintable } from '../quote.ts';
import { isKeyword, type Token, type TokenType } from './tokens.ts';

const leftComment = '/*';
const rightComment = '*/';
/** The length of a trim marker: a minus, and a space on its inner side. */
const trimMarkerLength = 2;
const spaces = ' \t\r\n';
const alphanumeric = /[_\p{L}\p{Nd}]/u;
const alphanumerics = /[_\p{L}\p{Nd}]*/uy;
/** Sign, digits in any base, fraction, exponent, imaginary unit; the parser checks the rest. */
const number =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
const terminators = new Set(['', '.', ',', '|', ':', ')', '(', ...Array.from(spaces)]);

export interface LexerOptions {
  readonly delimiters: readonly [left: string, right: string];
  /** Reports whether a function exists. Functions override keywords `break` and `continue`. */
  readonly isFunction: (name: string) => boolean;
}

/**
 * Splits a template into tokens, one at a time. Handles trimming (`{{- `, ` -}}`) and comments,
 * which the parser never sees. Only the end of input follows an error token.
 */
export class Lexer {
  readonly #left: string;
  readonly #right: string;
  readonly #isFunction: LexerOptions['isFunction'];
  #text: string;
  #position = 0;
  #start = 0;
  #insideAction = false;
  #parentheses = 0;

  constructor(text: string, options: LexerOptions) {
    this.#text = text;
    [this.#left, this.#right] = options.delimiters;
    this.#isFunction = options.isFunction;
  }

  next(): Token {
    return this.#insideAction ? this.#insideActionToken() : this.#textToken();
  }

  #token(type: TokenType): Token {
    const token = { type, position: this.#start, value: this.#text.slice(this.#start, this.#position) };
    this.#start = this.#position;
    return token;
  }

  #error(message: string): Token {
    const token: Token = { type: 'error', position: this.#start, value: message };
    this.#text = '';
    this.#start = 0;
    this.#position = 0;
    this.#insideAction = false;
    return token;
  }

  /** Returns the character at the position, or '' at the end. */
  #peek(): string {
    const code = this.#text.codePointAt(this.#position);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #skip(length: number): void {
    this.#position += length;
    this.#start = this.#position;
  }

  /** Reads text up to the next left delimiter; skips comments. */
  #textToken(): Token {
    for (;;) {
      const delimiter = this.#text.indexOf(this.#left, this.#position);
      if (delimiter < 0) {
        this.#position = this.#text.length;
        return this.#token(this.#position > this.#start ? 'text' : 'end of input');
      }
      const inner = delimiter + this.#left.length;
      const trims = this.#text[inner] === '-' && isSpace(this.#text.charAt(inner + 1));
      if (delimiter > this.#start) {
        this.#position = trims ? trimEnd(this.#text, this.#start, delimiter) : delimiter;
        const token = this.#token('text');
        this.#skip(delimiter - this.#position);
        if (token.value !== '') return token;
      }
      const start = trims ? inner + trimMarkerLength : inner;
      if (!this.#text.startsWith(leftComment, start)) return this.#leftDelimiterToken(trims);
      const error = this.#skipComment(start);
      if (error !== undefined) return error;
    }
  }

  #leftDelimiterToken(trims: boolean): Token {
    this.#position += this.#left.length;
    const token = this.#token('left delimiter');
    if (trims) this.#skip(trimMarkerLength);
    this.#insideAction = true;
    this.#parentheses = 0;
    return token;
  }

  #skipComment(start: number): Token | undefined {
    this.#start = start;
    const end = this.#text.indexOf(rightComment, start + leftComment.length);
    if (end < 0) return this.#error('unclosed comment');
    this.#position = end + rightComment.length;
    const delimiter = this.#rightDelimiter();
    if (delimiter === undefined) return this.#error('comment ends before closing delimiter');
    this.#skipRightDelimiter(delimiter);
    return undefined;
  }

  /** Returns whether a right delimiter starts here, and whether a trim marker precedes it. */
  #rightDelimiter(): 'plain' | 'trimming' | undefined {
    const text = this.#text;
    const at = this.#position;
    if (isSpace(text.charAt(at)) && text[at + 1] === '-' && text.startsWith(this.#right, at + trimMarkerLength))
      return 'trimming';
    return text.startsWith(this.#right, at) ? 'plain' : undefined;
  }

  #skipRightDelimiter(delimiter: 'plain' | 'trimming'): Token {
    const trims = delimiter === 'trimming';
    if (trims) this.#skip(trimMarkerLength);
    this.#position += this.#right.length;
    const token = this.#token('right delimiter');
    if (trims) this.#skip(trimStart(this.#text, this.#position) - this.#position);
    return token;
  }

  #insideActionToken(): Token {
    const delimiter = this.#rightDelimiter();
    if (delimiter !== undefined) {
      if (this.#parentheses > 0) return this.#error('unclosed left paren');
      this.#insideAction = false;
      return this.#skipRightDelimiter(delimiter);
    }
    const character = this.#peek();
    if (character === '') return this.#error('unclosed action');
    if (isSpace(character)) return this.#spaceToken();
    if (alphanumeric.test(character) && !/[0-9]/.test(character)) return this.#identifierToken();
    this.#position += character.length;
    switch (character) {
      case '=':
        return this.#token('assign');
      case ':':
        if (this.#peek() !== '=') return this.#error('expected :=');
        this.#position += 1;
        return this.#token('declare');
      case '|':
        return this.#token('pipe');
      case '"':
        return this.#quotedToken('"', 'string', 'unterminated quoted string');
      case "'":
        return this.#quotedToken("'", 'characterConstant', 'unterminated character constant');
      case '`':
        return this.#rawStringToken();
      case '$':
        return this.#nameToken('variable');
      case '(':
        this.#parentheses += 1;
        return this.#token('left parenthesis');
      case ')':
        this.#parentheses -= 1;
        return this.#parentheses < 0 ? this.#error('unexpected right paren') : this.#token('right parenthesis');
    }
    if (character === '.' && /[^0-9]/.test(this.#peek())) return this.#nameToken('field');
    if (/[.+\-0-9]/.test(character)) return this.#numberToken();
    if (character < '\x80' && isPrintable(character)) return this.#token('char');
    return this.#error(`unrecognized character in action: ${describeCharacter(character)}`);
  }

  /** Reads a run of spaces, except the space that belongs to ` -}}`. */
  #spaceToken(): Token {
    const end = trimStart(this.#text, this.#position);
    this.#position = end - 1;
    if (this.#rightDelimiter() !== 'trimming') this.#position = end;
    return this.#token('space');
  }

  /** Reads a field or variable: [.$]alphanumeric*, or a single dot or dollar. */
  #nameToken(type: 'field' | 'variable'): Token {
    if (this.#atTerminator()) return this.#token(type === 'variable' ? 'variable' : '.');
    this.#skipAlphanumerics();
    return this.#atTerminator() ? this.#token(type) : this.#badCharacter();
  }

  #identifierToken(): Token {
    this.#skipAlphanumerics();
    if (!this.#atTerminator()) return this.#badCharacter();
    const word = this.#text.slice(this.#start, this.#position);
    if (word === 'true' || word === 'false') return this.#token('boolean');
    const isFunctionName = (word === 'break' || word === 'continue') && this.#isFunction(word);
    return this.#token(isKeyword(word) && !isFunctionName ? word : 'identifier');
  }

  #badCharacter(): Token {
    return this.#error(`bad character ${describeCharacter(this.#peek())}`);
  }

  #skipAlphanumerics(): void {
    alphanumerics.lastIndex = this.#position;
    alphanumerics.test(this.#text);
    this.#position = alphanumerics.lastIndex;
  }

  /** Reports whether a name can end here: `.X.Y` is two tokens, `$x+2` is invalid. */
  #atTerminator(): boolean {
    return terminators.has(this.#peek()) || this.#text.startsWith(this.#right, this.#position);
  }

  #quotedToken(quote: string, type: TokenType, unterminated: string): Token {
    for (;;) {
      const character = this.#text.charAt(this.#position);
      const next = this.#text.charAt(this.#position + 1);
      if (character === '' || character === '\n') return this.#error(unterminated);
      if (character === '\\' && (next === '' || next === '\n')) return this.#error(unterminated);
      this.#position += character === '\\' ? 2 : 1;
      if (character === quote) return this.#token(type);
    }
  }

  #rawStringToken(): Token {
    const end = this.#text.indexOf('`', this.#position);
    if (end < 0) return this.#error('unterminated raw quoted string');
    this.#position = end + 1;
    return this.#token('raw string');
  }

  #numberToken(): Token {
    this.#position = this.#start;
    if (!this.#scanNumber()) return this.#badNumber();
    if (!/[+-]/.test(this.#peek())) return this.#token('number');
    // A complex constant such as 1+2i has no spaces and ends in i.
    const complete = this.#scanNumber() && this.#text[this.#position - 1] === 'i';
    return complete ? this.#token('complex') : this.#badNumber();
  }

  #badNumber(): Token {
    return this.#error(`bad number syntax: ${quoteString(this.#text.slice(this.#start, this.#position))}`);
  }

  #scanNumber(): boolean {
    number.lastIndex = this.#position;
    number.test(this.#text);
    this.#position = number.lastIndex;
    const character = this.#peek();
    if (!alphanumeric.test(character)) return true;
    this.#position += character.length;
    return false;
  }
}

function isSpace(character: string): boolean {
  return character !== '' && spaces.includes(character);
}

/** Returns the start of the trailing spaces of text[from, to). */
function trimEnd(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(text.charAt(end - 1))) end -= 1;
  return end;
}

/** Returns the end of the spaces that start at `from`. */
function trimStart(text: string, from: number): number {
  let start = from;
  while (isSpace(text.charAt(start))) start += 1;
  return start;
}

/** Go's %#U: `U+0041 'A'`. */
function describeCharacter(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  return isPrintable(character) ? `U+${code} '${character}'` : `U+${code}`;
}
