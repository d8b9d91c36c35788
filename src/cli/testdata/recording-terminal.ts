import assert from 'node:assert/strict';
import { run } from '../program.ts';
import type { Screen, Terminal } from '../terminal.ts';

/** What a person would see of one call. */
export interface Seen {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
  /** What it asked. */
  readonly questions: readonly string[];
}

/** What else a terminal may be. */
export interface Surroundings {
  /** Of standard output; without it that is a file. */
  readonly screen?: Screen;
  /** Told all that is printed so far, each time that something is; calls `interrupt` to press Ctrl-C. */
  readonly onOut?: (out: string, interrupt: () => void) => void;
}

/**
 * A terminal with this standard input, and what a person has seen on it so far.
 * @param answer what the person answers to every question; without it nobody sits at the terminal
 */
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
    out: (text) => {
      out += text;
      onOut?.(out, interrupt);
    },
    error: (line) => {
      errors.push(line);
    },
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
  return { terminal, seen: (): Seen => ({ out, errors: errors.join('\n'), code, questions }) };
}

/** Expects the exit status of a call, and what it printed. */
export function sees(seen: Seen, code: number, printed: { out?: RegExp; errors?: RegExp }): void {
  if (printed.out !== undefined) assert.match(seen.out, printed.out);
  if (printed.errors !== undefined) assert.match(seen.errors, printed.errors);
  assert.equal(seen.code, code);
}

/** Runs the command line with the given arguments; see {@link recordingTerminal}. */
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

/** Does something once a condition holds, as somebody would who watches what a command writes; how fast the command is does not matter. */
export function asSoonAs(holds: () => boolean, act: () => void): void {
  const timer = setInterval(() => {
    if (!holds()) return;
    clearInterval(timer);
    act();
  }, 2).unref();
}
