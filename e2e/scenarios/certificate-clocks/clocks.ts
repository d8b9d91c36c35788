import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Replica } from '../../harness/replicas/replica.ts';

/** The clocks of processes, each of which can be put wrong while it runs. */
export class Clocks {
  readonly #directory: string;

  /** @param directory of the run; goes with it */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The file from which the process of this name reads by how much its clock is wrong. */
  fileOf(name: string): string {
    return join(this.#directory, `clock-${name}`);
  }

  /** Puts clocks wrong by so many milliseconds; 0 puts them right. */
  set(replicas: readonly Replica[], milliseconds: number): void {
    for (const { name } of replicas) writeFileSync(this.fileOf(name), `${milliseconds}\n`);
  }
}
