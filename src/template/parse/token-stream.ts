import type { Lexer } from './lexer.ts';
import type { SourceText } from './source-text.ts';
import type { TemplateError } from '../template-error.ts';
import { describeToken, type Token, type TokenType } from './tokens.ts';

/** The tokens of a template, with lookahead and errors. */
export class TokenStream {
  /** The start of the current action, for errors about its end. */
  actionStart: number | undefined;
  readonly #source: SourceText;
  readonly #lexer: Lexer;
  /** Tokens that were put back; the next token is last. */
  readonly #pending: Token[] = [];
  /** The last token from the lexer. Error messages report the line of this token. */
  #lexed: Token = { type: 'end of input', position: 0, value: '' };

  constructor(source: SourceText, lexer: Lexer) {
    this.#source = source;
    this.#lexer = lexer;
  }

  next(): Token {
    const token = this.#pending.pop();
    if (token !== undefined) return token;
    this.#lexed = this.#lexer.next();
    return this.#lexed;
  }

  /** Puts tokens back; the last argument becomes the next token. */
  pushBack(...tokens: readonly Token[]): void {
    this.#pending.push(...tokens);
  }

  peek(): Token {
    const token = this.next();
    this.pushBack(token);
    return token;
  }

  nextNonSpace(): Token {
    let token = this.next();
    while (token.type === 'space') token = this.next();
    return token;
  }

  peekNonSpace(): Token {
    const token = this.nextNonSpace();
    this.pushBack(token);
    return token;
  }

  /** Returns the next token, which must have this type. */
  expect(type: TokenType, context: string): Token {
    const token = this.nextNonSpace();
    if (token.type !== type) throw this.unexpected(token, context);
    return token;
  }

  /** Makes an error, by default at the last token. */
  error(reason: string, position = this.#lexed.position): TemplateError {
    return this.#source.syntaxError(this.#lexed.position, position, reason);
  }

  /** Makes an error about an unexpected token, or about an error of the lexer. */
  unexpected(token: Token, context: string): TemplateError {
    if (token.type !== 'error') return this.error(`unexpected ${describeToken(token)} in ${context}`, token.position);
    const start = this.actionStart;
    let extra = '';
    if (start !== undefined && this.#source.line(start) !== this.#source.line(token.position)) {
      const action = token.value.endsWith(' action') ? '' : ' in action';
      extra = `${action} started at ${this.#source.name}:${this.#source.line(start)}`;
    }
    return this.error(token.value + extra, token.position);
  }
}
