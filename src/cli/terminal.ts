import { createInterface } from 'node:readline';

/** What a command talks to: handed in by main, so that a test can read what a person would see. */
export interface Terminal {
  /** Writes to standard output exactly what it is given. */
  out(text: string): void;
  /** Writes one line to standard error. */
  error(line: string): void;
  /** Reads all of standard input as UTF-8. */
  readInput(): Promise<string>;
  /** Asks the person at the terminal a question and returns the line; undefined when nobody sits there (standard input is no terminal). */
  ask(question: string): Promise<string | undefined>;
  /** The screen on which `out` appears; undefined when that goes to a file or another program. */
  screen(): Screen | undefined;
  /**
   * Calls back once when the command is to end: SIGINT, SIGTERM, or the program that reads `out` has gone.
   * @returns stops listening
   */
  onInterrupt(callback: () => void): () => void;
  setExitCode(code: number): void;
}

/** In characters. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** The process's own terminal. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  error: (line) => void process.stderr.write(`${line}\n`),
  async readInput() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  },
  async ask(question) {
    if (!process.stdin.isTTY) return undefined;
    // On standard error: standard output is for what the command prints, and may go elsewhere.
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await new Promise<string>((resolve) => {
        lines.once('close', () => resolve(''));
        lines.question(question, resolve);
      });
    } finally {
      lines.close();
    }
  },
  screen() {
    const { isTTY, columns, rows } = process.stdout;
    return isTTY ? { columns, rows } : undefined;
  },
  onInterrupt(callback) {
    // Once: a second SIGINT ends the process at once.
    process.once('SIGINT', callback).once('SIGTERM', callback);
    process.stdout.once('error', callback);
    return () => {
      process.off('SIGINT', callback).off('SIGTERM', callback);
      process.stdout.off('error', callback);
    };
  },
  setExitCode(code) {
    process.exitCode = code;
  },
};

/** The call is wrong, not the cluster or the configuration: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What the command line's exit status says. */
export const exitCodes = { success: 0, failure: 1, usage: 2, negative: 3, refused: 4, unknown: 5 } as const;

/** What each means, for people; `make generate` writes the page of reference from it. */
export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  success: 'done, and nothing is wrong',
  failure: 'the answer is no, or something failed: a template, a cluster that refuses, no operator that is alive',
  usage: 'the call is wrong: an unknown option, value or object, options that exclude each other, a missing file',
  negative:
    'found what nobody wants: `status` stale or missing pods; `analyze` anything; `check` not injected, or twice; `tag watch` rolled back, or restarts that stopped',
  refused: '`check`: the pod would be refused',
  unknown: '`check`: what becomes of the pod cannot be told',
};
