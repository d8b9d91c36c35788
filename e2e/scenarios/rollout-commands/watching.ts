import type { RestartStatus, RolloutState } from '../../../src/api/revision-tag/rollout-status.ts';
import { startInjector, type CommandResult, type RunningCommand } from '../../harness/injector-command.ts';
import { Hopeless, waitFor } from '../../harness/wait-for.ts';

/** A line of `injector tag watch -o json`. */
export interface WatchLine {
  readonly rollout?: RolloutState;
  readonly restarts?: RestartStatus;
}

/** `injector tag watch` while it goes on: it looks twice a second, and may see nothing of what is over before it has looked. */
export class Watching {
  readonly #command: RunningCommand;
  #isOver = false;

  private constructor(command: RunningCommand) {
    this.#command = command;
    const over = (): void => {
      this.#isOver = true;
    };
    command.end.then(over, over);
  }

  /** Starts it; it has looked for the first time when this resolves. */
  static async start(argv: readonly string[]): Promise<Watching> {
    const watching = new Watching(startInjector(argv));
    await watching.#waitFor('it to have looked', () => watching.#command.said().includes('\n'));
    return watching;
  }

  get end(): Promise<CommandResult> {
    return this.#command.end;
  }

  /** Waits until it has shown something (`-o json`). */
  async shows(what: string, isSo: (line: WatchLine) => boolean): Promise<void> {
    await this.#waitFor(`it to show ${what}`, () => watchLines(this.#command.said()).some(isSo));
  }

  async #waitFor(what: string, isSo: () => boolean): Promise<void> {
    await waitFor(`injector tag watch: ${what}`, () => {
      const holds = isSo();
      if (!holds && this.#isOver)
        throw new Hopeless(`injector tag watch has ended before ${what}: ${this.#command.said()}`);
      return holds;
    });
  }
}

/** What it has said with `-o json`, line by line; a line that is being written is none yet. */
export function watchLines(said: string): WatchLine[] {
  return said
    .slice(0, said.lastIndexOf('\n') + 1)
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WatchLine);
}
