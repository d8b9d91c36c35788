import { run } from '../program.ts';
import type { Terminal } from '../terminal.ts';

/** What a person would see of one call. */
export interface Seen {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
}

/** Runs the command line with the given arguments and standard input. */
export async function runCommand(argv: readonly string[], input = ''): Promise<Seen> {
  let out = '';
  const errors: string[] = [];
  let code = 0;
  const terminal: Terminal = {
    out: (text) => {
      out += text;
    },
    error: (line) => {
      errors.push(line);
    },
    readInput: () => Promise.resolve(input),
    setExitCode: (value) => {
      code = value;
    },
  };
  await run(terminal, argv);
  return { out, errors: errors.join('\n'), code };
}
