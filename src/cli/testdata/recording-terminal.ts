import { run } from '../program.ts';
import type { Terminal } from '../terminal.ts';

/** What a person would see of one call. */
export interface Seen {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
  /** What it asked. */
  readonly questions: readonly string[];
}

/**
 * Runs the command line with the given arguments and standard input.
 * @param answer what the person answers to every question; without it nobody sits at the terminal
 */
export async function runCommand(argv: readonly string[], input = '', answer?: string): Promise<Seen> {
  let out = '';
  const errors: string[] = [];
  const questions: string[] = [];
  let code = 0;
  const terminal: Terminal = {
    out: (text) => {
      out += text;
    },
    error: (line) => {
      errors.push(line);
    },
    readInput: () => Promise.resolve(input),
    ask: (question) => {
      questions.push(question);
      return Promise.resolve(answer);
    },
    setExitCode: (value) => {
      code = value;
    },
  };
  await run(terminal, argv);
  return { out, errors: errors.join('\n'), code, questions };
}
