import assert from 'node:assert/strict';
import { run } from '../program.ts';
import { outputTo, type Screen, type Terminal } from '../terminal.ts';

/** The output of one call. */
export interface Seen {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
  /** The questions to the user. */
  readonly questions: readonly string[];
}

/** Optional features of the terminal. */
export interface Surroundings {
  /** The screen of standard output; absent if standard output is a file. */
  readonly screen?: Screen;
  /** Receives the output so far after each write; `interrupt` simulates Ctrl-C. */
  readonly onOut?: (out: string, interrupt: () => void) => void;
}

/** Returns a terminal, and its output. @param answer undefined if stdin is not a terminal */
export function recordingTerminal(input = '', answer?: string, { screen, onOut }: Surroundings = {}) {
  let out = '';
  const errors: string[] = [];
  const questions: string[] = [];
  const listeners = new Set<() => void>();
  const interrupt = (): void => {
    for (const listener of listeners) listener();
  };
  let code = 0;
  const terminal: Terminal = {
    ...outputTo(
      (text) => {
        out += text;
        onOut?.(out, interrupt);
      },
      (text) => void errors.push(text),
      () => screen !== undefined,
    ),
    progress: () => undefined,
    readInput: () => Promise.resolve(input),
    ask: (question) => {
      questions.push(question);
      return Promise.resolve(answer);
    },
    screen: () => screen,
    onInterrupt: (callback) => {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    setExitCode: (value) => {
      code = value;
    },
  };
  return { terminal, seen: (): Seen => ({ out, errors: errors.join('').replace(/\n$/, ''), code, questions }) };
}

/** Asserts the exit status of a call and its output. */
export function sees(seen: Seen, code: number, printed: { out?: RegExp; errors?: RegExp }): void {
  if (printed.out !== undefined) assert.match(seen.out, printed.out);
  if (printed.errors !== undefined) assert.match(seen.errors, printed.errors);
  assert.equal(seen.code, code);
}

/** Runs the command line with arguments; see {@link recordingTerminal}. */
export async function runCommand(
  argv: readonly string[],
  input?: string,
  answer?: string,
  surroundings?: Surroundings,
): Promise<Seen> {
  const { terminal, seen } = recordingTerminal(input, answer, surroundings);
  await run(terminal, argv);
  return seen();
}

/** Runs `act` once when a condition holds, independent of the speed of the command. */
export function asSoonAs(holds: () => boolean, act: () => void): void {
  const timer = setInterval(() => {
    if (!holds()) return;
    clearInterval(timer);
    act();
  }, 2).unref();
}
