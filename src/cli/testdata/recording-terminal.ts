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
 * Runs the command line with the given arguments and standard input.
 * @param answer what the person answers to every question; without it nobody sits at the terminal
 */
export async function runCommand(
  argv: readonly string[],
  input = '',
  answer?: string,
  { screen, onOut }: Surroundings = {},
): Promise<Seen> {
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
  await run(terminal, argv);
  return { out, errors: errors.join('\n'), code, questions };
}
