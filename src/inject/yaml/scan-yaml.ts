import { YamlError } from './yaml-error.ts';

/** A part of a YAML text. `?` is also the start of a key, `list` and `map` start a block. */
export interface YamlToken {
  readonly type: TokenType;
  readonly start: number;
  readonly end: number;
  readonly column: number;
  /** What a scalar says, the name of an anchor or alias, or a whole tag. */
  readonly text: string;
  readonly isPlain: boolean;
}

type Mark = '---' | '...' | '%' | '[' | ']' | '{' | '}' | ',' | '-' | '?' | ':' | '&' | '*' | '!';
type TokenType = Mark | 'scalar' | 'list' | 'map' | 'block end' | 'end';

/** A place where a key without a question mark may start. */
interface SimpleKey {
  isPossible: boolean;
  readonly isRequired: boolean;
  /** The number of the token, counted from the start. */
  readonly number: number;
  readonly at: number;
  readonly lineStart: number;
}

const noKey: SimpleKey = { isPossible: false, isRequired: false, number: 0, at: 0, lineStart: 0 };
/** Go's limit on the characters of a key without a question mark. */
const longestKey = 1024;

/** What Go's reader refuses, and a second byte order mark, which confuses it. */
const control = /(?<=^\ufeff)\ufeff|[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const documentMark = /(?:---|\.\.\.)(?=[ \t\r\n\x85\u2028\u2029]|$)/y;
const directive = /%YAML[ \t]+1\.1[ \t]*(?:#[^\r\n\x85\u2028\u2029]*)?(?=[\r\n\x85\u2028\u2029]|$)/y;
const comment = /#[^\r\n\x85\u2028\u2029]*/y;
const name = /[&*]([\w-]+)(?=[ \t\r\n\x85\u2028\u2029?:,\]}%@`]|$)/y;
const tag =
  /!(?:<((?:[\w;/?:@&=+$,.!~*'()[\]-]|%[\da-fA-F]{2})+)>|([\w-]*!)((?:[\w;/?:@&=+$,.!~*'()[\]-]|%[\da-fA-F]{2})+)|(?![\w-]*!)((?:[\w;/?:@&=+$,.!~*'()[\]-]|%[\da-fA-F]{2})*))(?=[ \t\r\n\x85\u2028\u2029]|$)/y;
const blockHeader =
  /[|>](?:([-+])([1-9])?|([1-9])([-+])?)?[ \t]*(?:#[^\r\n\x85\u2028\u2029]*)?(?=[\r\n\x85\u2028\u2029]|$)/y;
const plainInBlock = /(?:[^ \t\r\n\x85\u2028\u2029:]|:(?![ \t\r\n\x85\u2028\u2029]|$))+/y;
const plainInFlow = /(?:[^ \t\r\n\x85\u2028\u2029:,?[\]{}]|:(?![ \t\r\n\x85\u2028\u2029]|$))+/y;
const singleQuoted = /[^ \t\r\n\x85\u2028\u2029']+/y;
const doubleQuoted = /[^ \t\r\n\x85\u2028\u2029"\\]+/y;
/** kubectl drops a carriage return at the end of a line first. */
const lineBreak = /\r?\r\n|[\r\n\x85\u2028\u2029]/y;
const line = /[^\r\n\x85\u2028\u2029]*/y;

/** The letters of escapes, and in the same order what they stand for. */
const escapes = ['0abt\tnvfre "\'\\N_LP', '\0\x07\b\t\t\n\v\f\r\x1b "\'\\\x85\xa0\u2028\u2029'] as const;
const codeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
const isBreak = (code: number): boolean =>
  code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
/** Reports whether a character is a letter, so that it starts a scalar without quotes. */
const isWord = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
/** Reports whether a character, or the end of the text, separates tokens. */
const isSpace = (code: number): boolean => isBlank(code) || isBreak(code) || Number.isNaN(code);

/** Splits a text into tokens, as a port of the scanner of Go's yaml.v2: it refuses the same. */
export class YamlScanner {
  readonly #text: string;
  #at: number;
  #lineStart: number;
  #tokens: YamlToken[] = [];
  #head = 0;
  #taken = 0;
  #flow = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  #isKeyAllowed = true;
  /** The last possible key of each level of brackets. */
  readonly #keys: SimpleKey[] = [noKey];
  readonly #keyAt = new Map<number, SimpleKey>();
  readonly #isJson: boolean;

  /** @param isJson whether the text is JSON, which has more escapes. @throws YamlError */
  constructor(text: string, isJson = false) {
    this.#isJson = isJson;
    // Go has read half of a surrogate pair as U+FFFD. kubectl ends each document with a line break.
    const valid = text.toWellFormed();
    this.#text = valid.endsWith('\n') ? valid : `${valid}\n`;
    this.#at = this.#lineStart = text.startsWith('\ufeff') ? 1 : 0;
    const refused = control.exec(valid);
    if (refused === null || isJson) return;
    const code = refused[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
    const reason = `control characters are not allowed: U+${code}; write an escape in double quotes instead`;
    throw this.error(reason, refused.index);
  }

  /** Returns the next token. @throws YamlError */
  peek(): YamlToken {
    for (;;) {
      const token = this.#tokens[this.#head];
      const key = token && this.#keyAt.get(this.#taken);
      if (token !== undefined && (key === undefined || !this.#isValid(key))) return token;
      this.#next();
    }
  }

  /** Returns the next token, and goes on. @throws YamlError */
  take(): YamlToken {
    const token = this.peek();
    this.#taken += 1;
    this.#head += 1;
    if (this.#head === this.#tokens.length) {
      this.#tokens = [];
      this.#head = 0;
    }
    return token;
  }

  error(reason: string, offset = this.#at): YamlError {
    const before = this.#text.slice(0, offset);
    const column = before.length - before.lastIndexOf('\n');
    return new YamlError(reason, before.split('\n').length, { column });
  }

  get #column(): number {
    return this.#at - this.#lineStart;
  }

  get #number(): number {
    return this.#taken + this.#tokens.length - this.#head;
  }

  get #key(): SimpleKey {
    return this.#keys[this.#keys.length - 1] ?? noKey;
  }

  #code(offset = 0): number {
    return this.#text.charCodeAt(this.#at + offset);
  }

  /** Returns what a pattern finds at the current position, and goes on. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #next(): void {
    this.#skipSpace();
    this.#unroll(this.#column);
    const character = this.#text.charAt(this.#at);
    if (character === '') {
      // What could be a key ends here.
      this.#lineStart = this.#at;
      this.#endBlocks('end', 0);
      return;
    }
    if (isWord(this.#code())) this.#plain();
    else if (this.#isDocumentMark()) this.#endBlocks(character === '-' ? '---' : '...', 3);
    else if (character === '%' && this.#column === 0) this.#directive();
    else if (character === '[' || character === '{') {
      this.#saveKey();
      this.#keys.push({ ...noKey, number: this.#number });
      this.#flow += 1;
      this.#mark(character, true);
    } else if (character === ']' || character === '}') {
      this.#removeKey();
      if (this.#flow > 0) this.#keyAt.delete(this.#keys.pop()?.number ?? 0);
      this.#flow = Math.max(0, this.#flow - 1);
      this.#mark(character, false);
    } else if (character === ',') {
      this.#removeKey();
      this.#mark(character, true);
    } else if (this.#isIndicator(character)) this.#indicator(character);
    else if (character === '*' || character === '&' || character === '!') this.#property(character);
    else if ((character === '|' || character === '>') && this.#flow === 0) this.#block(character === '|');
    else if (character === "'" || character === '"') this.#quoted(character);
    else if ('\t|>%@`'.includes(character)) throw this.error('found character that cannot start any token');
    else this.#plain();
  }

  #isIndicator(character: string): character is '-' | '?' | ':' {
    const isSeparated = isSpace(this.#code(1)) || (this.#flow > 0 && character !== '-');
    return isSeparated && '-?:'.includes(character);
  }

  #indicator(character: '-' | '?' | ':'): void {
    const key = this.#key;
    if (character === ':' && this.#isValid(key)) {
      const { at: start, number } = key;
      const column = start - key.lineStart;
      const position = number - this.#taken;
      this.#add('?', start, column, { end: start }, position);
      this.#roll('map', start, column, position);
      key.isPossible = false;
      this.#keyAt.delete(number);
      this.#mark(':', false);
      return;
    }
    if (this.#flow === 0 && !this.#isKeyAllowed) {
      const name = { '-': 'block sequence entries', '?': 'mapping keys', ':': 'mapping values' }[character];
      throw this.error(`${name} are not allowed in this context`);
    }
    this.#roll(character === '-' ? 'list' : 'map', this.#at, this.#column);
    if (character !== ':') this.#removeKey();
    this.#mark(character, character === '-' || this.#flow === 0);
  }

  #skipSpace(): void {
    for (;;) {
      const mayBeTab = this.#flow > 0 || !this.#isKeyAllowed || this.#isJson;
      while (this.#code() === 0x20 || (mayBeTab && this.#code() === 0x09)) this.#at += 1;
      if (this.#code() === 0x23) this.#match(comment);
      if (!isBreak(this.#code())) return;
      this.#break();
      if (this.#flow === 0) this.#isKeyAllowed = true;
    }
  }

  /** Reads a line break. Returns what it is in a scalar. */
  #break(): string {
    const [character] = this.#match(lineBreak) ?? [''];
    this.#lineStart = this.#at;
    return character === '\u2028' || character === '\u2029' ? character : '\n';
  }

  /** Adds a token, at the end or at a position. */
  #add(type: TokenType, start: number, column: number, rest: Partial<YamlToken> = {}, position = -1): void {
    const { end = this.#at, text = '', isPlain = false } = rest;
    const token = { type, start, end, column, text, isPlain };
    if (position < 0) this.#tokens.push(token);
    else this.#tokens.splice(this.#head + position, 0, token);
  }

  /** Reads a token of one character. */
  #mark(type: Mark, isKeyAllowed: boolean): void {
    this.#isKeyAllowed = isKeyAllowed;
    this.#at += 1;
    this.#add(type, this.#at - 1, this.#column - 1);
  }

  #isValid(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    const isLong = (): boolean =>
      this.#at - key.at > longestKey && Array.from(this.#text.slice(key.at, this.#at)).length > longestKey;
    if (this.#isJson || (key.lineStart === this.#lineStart && !isLong())) return true;
    if (key.isRequired) throw this.error("could not find expected ':'");
    key.isPossible = false;
    return false;
  }

  #saveKey(): void {
    if (!this.#isKeyAllowed) return;
    this.#removeKey();
    const isRequired = this.#flow === 0 && this.#indent === this.#column;
    const key = { isPossible: true, isRequired, number: this.#number, at: this.#at, lineStart: this.#lineStart };
    this.#keys[this.#keys.length - 1] = key;
    this.#keyAt.set(key.number, key);
  }

  #removeKey(): void {
    const key = this.#key;
    if (!key.isPossible) return;
    if (key.isRequired) throw this.error("could not find expected ':'");
    key.isPossible = false;
    this.#keyAt.delete(key.number);
  }

  /** Starts a block, if it is further to the right than the last. */
  #roll(type: 'list' | 'map', start: number, column: number, position = -1): void {
    if (this.#flow > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#add(type, start, column, { end: start }, position);
  }

  #unroll(column: number): void {
    while (this.#flow === 0 && this.#indent > column) {
      this.#add('block end', this.#at, column);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #endBlocks(type: 'end' | '---' | '...' | '%', length: number): void {
    this.#unroll(-1);
    this.#removeKey();
    this.#isKeyAllowed = false;
    this.#at += length;
    this.#add(type, this.#at - length, 0);
  }

  #directive(): void {
    this.#endBlocks('%', 0);
    if (this.#match(directive) === null) throw this.error('found a directive other than %YAML 1.1');
  }

  #property(type: '*' | '&' | '!'): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const [start, column] = [this.#at, this.#column];
    const found = this.#match(type === '!' ? tag : name);
    if (found === null) throw this.error(type === '!' ? 'found an invalid tag' : 'found an invalid anchor or alias');
    const [whole, text = whole, handle, suffix = ''] = found;
    if (handle !== undefined && handle !== '!') throw this.error('found undefined tag handle', start);
    this.#add(type, start, column, { text: handle === undefined ? text : `tag:yaml.org,2002:${suffix}` });
  }

  #isDocumentMark(): boolean {
    if (this.#column !== 0) return false;
    documentMark.lastIndex = this.#at;
    return documentMark.test(this.#text);
  }

  /**
   * Reads spaces and line breaks. Returns what a scalar has instead.
   * @param isBroken whether it is after an escaped line break
   */
  #gap(isBroken = false, indent = 0): string {
    let [spaces, first, others, isFolded] = ['', '', '', isBroken];
    for (let code = this.#code(); isBlank(code) || isBreak(code); code = this.#code()) {
      if (isBlank(code)) {
        if (isFolded && code === 0x09 && this.#column < indent)
          throw this.error('found a tab character that violates indentation');
        if (!isFolded) spaces += String.fromCharCode(code);
        this.#at += 1;
      } else if (isFolded) others += this.#break();
      else {
        first = this.#break();
        isFolded = true;
      }
    }
    if (!isFolded) return spaces;
    return first !== '\n' ? first + others : others === '' ? ' ' : others;
  }

  #quoted(mark: string): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const [start, column] = [this.#at, this.#column];
    this.#at += 1;
    let text = '';
    for (;;) {
      if (this.#isDocumentMark()) throw this.error('found unexpected document indicator');
      if (this.#at >= this.#text.length) throw this.error('found unexpected end of stream');
      let isBroken = false;
      while (!isBroken && !isSpace(this.#code())) {
        const found = this.#match(mark === "'" ? singleQuoted : doubleQuoted);
        if (found !== null) text += found[0];
        else if (this.#text.startsWith("''", this.#at) && mark === "'") {
          text += "'";
          this.#at += 2;
        } else if (this.#text[this.#at] === mark) break;
        else if (isBreak(this.#code(1))) {
          this.#at += 1;
          this.#break();
          isBroken = true;
        } else text += this.#escape();
      }
      if (!isBroken && this.#text[this.#at] === mark) break;
      text += this.#gap(isBroken);
    }
    this.#at += 1;
    // JSON may escape half of a surrogate pair.
    this.#add('scalar', start, column, { text: text.toWellFormed() });
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at + 1);
    const known = this.#isJson && letter === '/' ? letter : escapes[1][escapes[0].indexOf(letter)];
    const length = known === undefined ? codeLengths[letter] : 0;
    if (length === undefined) throw this.error('found unknown escape character');
    this.#at += 2;
    if (known !== undefined) return known;
    const digits = this.#text.slice(this.#at, this.#at + length);
    if (digits.length < length || !/^[\da-fA-F]+$/.test(digits))
      throw this.error('did not find expected hexdecimal number');
    const code = Number.parseInt(digits, 16);
    if ((code >= 0xd800 && code <= 0xdfff && !this.#isJson) || code > 0x10ffff)
      throw this.error('found invalid Unicode character escape code');
    this.#at += length;
    return String.fromCodePoint(code);
  }

  #plain(): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const [start, column] = [this.#at, this.#column];
    const indent = this.#indent + 1;
    let [text, end, gap, line] = ['', start, '', this.#lineStart];
    while (!this.#isDocumentMark() && this.#text[this.#at] !== '#') {
      const found = this.#match(this.#flow > 0 ? plainInFlow : plainInBlock);
      if (found !== null) {
        text += gap + found[0];
        end = this.#at;
        line = this.#lineStart;
      }
      if (Number.isNaN(this.#code()) || !isSpace(this.#code())) break;
      gap = this.#gap(false, indent);
      if (this.#flow === 0 && this.#column < indent) break;
    }
    if (line !== this.#lineStart) this.#isKeyAllowed = true;
    this.#add('scalar', start, column, { text, end, isPlain: true });
  }

  #block(isLiteral: boolean): void {
    this.#removeKey();
    this.#isKeyAllowed = true;
    const [start, column] = [this.#at, this.#column];
    const header = this.#match(blockHeader);
    if (header === null) throw this.error('did not find expected comment or line break');
    const chomping = header[1] ?? header[4];
    const digit = Number(header[2] ?? header[3] ?? 0);
    let end = this.#at;
    if (isBreak(this.#code())) this.#break();
    let [text, first, isLeadingBlank] = ['', '', false];
    let [indent, others] = this.#emptyLines(digit === 0 ? 0 : Math.max(this.#indent, 0) + digit);
    while (this.#column === indent && this.#at < this.#text.length) {
      const isBlankLine = isBlank(this.#code());
      const isFolded = !isLiteral && !isLeadingBlank && !isBlankLine && first === '\n';
      text += (isFolded ? (others === '' ? ' ' : '') : first) + others;
      isLeadingBlank = isBlankLine;
      text += this.#match(line)?.[0] ?? '';
      end = this.#at;
      first = this.#break();
      [indent, others] = this.#emptyLines(indent);
    }
    if (chomping !== '-') text += first;
    if (chomping === '+') {
      text += others;
      end = Math.max(end, this.#lineStart - (this.#text.startsWith('\r\n', this.#lineStart - 2) ? 2 : 1));
    }
    this.#add('scalar', start, column, { text, end });
  }

  /** Reads the empty lines in a block scalar, and the spaces of the next line. */
  #emptyLines(indent: number): [indent: number, breaks: string] {
    let [most, breaks] = [0, ''];
    for (;;) {
      while ((indent === 0 || this.#column < indent) && this.#code() === 0x20) this.#at += 1;
      most = Math.max(most, this.#column);
      if ((indent === 0 || this.#column < indent) && this.#code() === 0x09)
        throw this.error('found a tab character where an indentation space is expected');
      if (!isBreak(this.#code())) break;
      breaks += this.#break();
    }
    return [indent === 0 ? Math.max(most, this.#indent + 1, 1) : indent, breaks];
  }
}
