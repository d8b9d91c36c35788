import { isUtf8 } from 'node:buffer';
import { createInterface } from 'node:readline';
import { printable } from '../api/printable-text.ts';

/** The interface between a command and the user. Tests replace it and read the output. */
export interface Terminal {
  /** Writes a line, or each of several, to standard output. */
  out(lines: string | readonly string[]): void;
  /** Writes a line, or each of several, to standard error. */
  error(lines: string | readonly string[]): void;
  /** Writes the text of a file to standard output: unchanged, unless a person sees it. */
  document(text: string): void;
  /** Writes lines in place of the last `before` lines of a screen. */
  redraw(before: number, lines: readonly string[]): void;
  /** Replaces the line that shows progress on a screen; an empty text removes it. */
  progress(text: string): void;
  /** Reads all of standard input as UTF-8. */
  readInput(): Promise<string>;
  /** Asks the user a question; returns undefined when standard input is not a terminal. */
  ask(question: string): Promise<string | undefined>;
  /** Returns the size of the screen; undefined when `out` goes to a file or a pipe. */
  screen(): Screen | undefined;
  /** Calls back once at SIGINT, SIGTERM or a closed pipe. Returns a function that unsubscribes. */
  onInterrupt(callback: () => void): () => void;
  setExitCode(code: number): void;
}

/** The size of a screen in characters. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The only place that writes to streams; tests record them. Each line stays one line and cannot
 * control the screen, whatever texts of others it contains: the callers decide on the layout.
 * @param isScreen whether standard output is a screen
 */
export function outputTo(out: (text: string) => void, error: (text: string) => void, isScreen: () => boolean) {
  const lineOf = (line: string): string => `${printable(line.replaceAll('\t', ' '))}\n`;
  const textOf = (lines: string | readonly string[]): string => [lines].flat().map(lineOf).join('');
  const output: Pick<Terminal, 'out' | 'error' | 'document' | 'redraw'> = {
    out: (lines) => out(textOf(lines)),
    error: (lines) => error(textOf(lines)),
    document: (text) => out(isScreen() ? printable(text, '\n\t') : text),
    // ECMA-48: CUU moves the cursor up, ED erases the lines below.
    redraw: (before, lines) => out(`${before === 0 ? '' : `\u001B[${before}A\r\u001B[J`}${textOf(lines)}`),
  };
  return output;
}

export const processTerminal: Terminal = {
  ...outputTo(
    (text) => void process.stdout.write(text),
    (text) => void process.stderr.write(text),
    () => process.stdout.isTTY,
  ),
  progress: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${printable(text)}`);
  },
  async readInput() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (!isUtf8(bytes)) throw new UsageError('standard input is not UTF-8 text; convert it, for example with iconv');
    return bytes.toString('utf8');
  },
  async ask(question) {
    if (!process.stdin.isTTY) return undefined;
    // Ask on standard error, because standard output may be redirected.
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await new Promise<string>((resolve) => {
        lines.once('close', () => resolve(''));
        lines.question(printable(question), resolve);
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
    // Listen only once: a second SIGINT ends the process immediately.
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

/** Wrong arguments: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number = exitCodes.usage;
}

/** A name by which `diff` finds nothing to compare: exit status 5. */
export class UnmatchedName extends UsageError {
  override readonly exitCode = exitCodes.unknown;
}

/** The exit statuses of the command line. */
export const exitCodes = { success: 0, failure: 1, usage: 2, negative: 3, refused: 4, unknown: 5 } as const;

/** The meanings of exit statuses; `make generate` writes them to the reference. */
export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  success: 'success without problems',
  failure: 'a failure or a negative answer: an invalid template, a refusal by the cluster, no running operator',
  usage: 'wrong arguments: an unknown option, value or object (for `diff`: 5), conflicting options, a missing file',
  negative:
    'an unwanted state: `status` found stale or missing pods; `analyze` found a problem; `check` found a pod that is not injected, or is injected twice; `diff` found differences; `lint` found warnings; `tag watch` saw a rollback or stopped restarts; `adopt prove` found differences; `adopt move` took a namespace back',
  refused:
    '`check`: a webhook would refuse the pod; `diff`: new pods of a workload would be refused; `lint` found errors; `adopt plan`: a setting cannot be adopted; `adopt prove`: this injector would refuse a pod; `adopt move` and `finish` refused to begin',
  unknown:
    '`check`, `diff`: the result is unknown; `diff`: a name matches nothing, or there is nothing to compare; `adopt prove`: nothing or not all was compared',
};
