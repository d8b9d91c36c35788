import type { Terminal } from '../terminal.ts';

/** Escape sequences of ECMA-48, which every terminal has: the cursor goes up so many lines; all below it is erased. */
const up = (lines: number): string => `\u001B[${lines}A`;
const eraseBelow = '\u001B[J';

/** Lines on a terminal that are drawn over themselves when they change. */
export class Picture {
  readonly #terminal: Terminal;
  #drawn: readonly string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws the lines in place of those before. */
  draw(lines: readonly string[]): void {
    if (lines.join('\n') === this.#drawn.join('\n')) return;
    const back = this.#drawn.length === 0 ? '' : `${up(this.#drawn.length)}\r${eraseBelow}`;
    this.#terminal.out(`${back}${lines.join('\n')}\n`);
    this.#drawn = lines;
  }
}
