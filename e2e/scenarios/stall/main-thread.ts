import { readFileSync } from 'node:fs';

/** Milliseconds between two looks. */
const interval = 25;

/** The main thread of a process, as the kernel's scheduler knows it. */
export class MainThread {
  readonly #file: string;
  readonly #looks: { at: number; waited: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  /** Looks again and again until it is stopped. */
  constructor(pid: number) {
    this.#file = `/proc/${pid}/task/${pid}/schedstat`;
    const look = (): void => {
      this.#looks.push({ at: Date.now(), waited: this.#read().waited });
    };
    look();
    this.#timer = setInterval(look, interval);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Milliseconds for which it has run so far: what others do on the machine does not count. */
  ran(): number {
    return this.#read().ran;
  }

  /** Milliseconds between two times (since 1970) in which it could have run, but others did. */
  waitedBetween(from: number, to: number): number {
    const before = this.#looks.findLast(({ at }) => at <= from) ?? this.#looks[0];
    const after = this.#looks.find(({ at }) => at >= to) ?? this.#looks.at(-1);
    return Math.min(to - from, Math.max(0, (after?.waited ?? 0) - (before?.waited ?? 0)));
  }

  #read(): { ran: number; waited: number } {
    try {
      const [ran = 0, waited = 0] = readFileSync(this.#file, 'utf8').split(' ').map(Number);
      return { ran: ran / 1e6, waited: waited / 1e6 };
    } catch {
      // The process has ended, which is for the scenario to find.
      return this.#looks.length === 0 ? { ran: 0, waited: 0 } : { ran: 0, waited: this.#looks.at(-1)?.waited ?? 0 };
    }
  }
}
