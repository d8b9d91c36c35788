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
  out(text) {
    process.stdout.write(text);
  },
  error(line) {
    process.stderr.write(`${line}\n`);
  },
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
export const exitCodes = {
  success: 0,
  /** The command ran and its answer is no: a template that fails, a cluster that refuses. */
  failure: 1,
  /** The call itself is wrong: an unknown option, a missing file. */
  usage: 2,
  /** The command did its work and found what nobody wants: pods that are not injected as they would be now, or would not be. */
  negative: 3,
  /** `check`: a pod would be refused. */
  refused: 4,
  /** `check`: what becomes of a pod cannot be told here. */
  unknown: 5,
} as const;
