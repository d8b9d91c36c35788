import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { WorkerProgram } from '../worker/worker-program.ts';
import type { MonotonicClock } from '../ports.ts';
import type { FromTrial, ToTrial } from './try-configuration.ts';

/** The limits of a trial, with times in milliseconds. */
export const defaultTrialLimits = {
  /** The CPU time of a first trial, and of a second trial that runs after all other trials. */
  processorTimes: [1_000, 4_000] as readonly [first: number, second: number],
  /** The time after which a trial that lacks CPU time ends as `not tried`. */
  patience: 60_000,
  /** The heap of the process, in MiB. */
  heapMebibytes: 192,
  /** The stack, in KiB; smaller than the stack of the main thread, which therefore suffices. */
  stackKibibytes: 700,
  /** The size of a parsed configuration in a message, in bytes. */
  maxAnswerBytes: 8 * 1024 * 1024,
  /** The time after which an idle process ends. */
  idle: 15_000,
};

export type TrialLimits = Readonly<typeof defaultTrialLimits>;

/** Linux counts CPU time in ticks of 10 ms (USER_HZ is 100 on all platforms of Node). */
const millisecondsPerTick = 10;
/** The number of characters of standard error to log. */
const maxStderr = 2_000;

/**
 * A process that tries configurations. It is not a thread, because one large allocation beyond a
 * thread's heap limit ends the whole process, and code without calls cannot be terminated
 * (docs/adr/0011).
 */
export class TrialProcess {
  readonly #child: ChildProcess;
  readonly #clock: MonotonicClock;
  readonly #begun: number;
  readonly #exited: Promise<void>;
  #stderr = '';
  #isOver = false;

  /** @param lost called once if the process ends unexpectedly */
  constructor(
    program: WorkerProgram,
    limits: TrialLimits,
    clock: MonotonicClock,
    receive: (message: FromTrial) => void,
    lost: (isMemory: boolean, problem: string) => void,
  ) {
    this.#clock = clock;
    this.#begun = clock();
    const flags = [`--max-old-space-size=${limits.heapMebibytes}`, `--stack-size=${limits.stackKibibytes}`];
    const args = program.isText ? [...flags, '-'] : [...process.execArgv, ...flags, fileURLToPath(program.source)];
    this.#child = spawn(process.execPath, args, {
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      // Do not pass on proxies, tokens or Node's options.
      env: {},
    });
    const { stdin, stderr } = this.#child;
    stdin?.on('error', () => undefined);
    stdin?.end(program.isText ? program.source : undefined);
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < maxStderr) this.#stderr += text.slice(0, maxStderr);
    });
    this.#child.on('message', (message: FromTrial) => {
      if (!this.#isOver) receive(message);
    });
    const end = (isMemory: boolean, problem: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      lost(isMemory, `${problem} ${this.#stderr}`.trim());
    };
    this.#child.on('error', (error) => end(false, error.message));
    this.#exited = new Promise((resolve) => {
      // Unlike event exit, event close comes after the end of standard error.
      this.#child.on('close', (code, signal) => {
        // When memory runs out, V8 raises SIGABRT, or the kernel sends SIGKILL.
        const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || code === 134;
        end(isMemory, `ended with ${signal ?? `code ${code}`}`);
        resolve();
      });
    });
    // A timer keeps this process alive during a trial; an idle trial process must not do so.
    this.#child.unref();
    this.#child.channel?.unref();
    // The pipes are sockets, which would keep this process alive too.
    for (const stream of [stdin, stderr]) if (stream instanceof Socket) stream.unref();
  }

  /** Returns the CPU time in milliseconds; the elapsed time on platforms without /proc. */
  processorTime(): number {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
      // Field 2 is the command in parentheses and may contain spaces; utime and stime are fields 14
      // and 15.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
    } catch {
      return this.#clock() - this.#begun;
    }
  }

  send(message: ToTrial): void {
    // If sending fails, the process has ended, which `lost` reports.
    this.#child.send(message, () => undefined);
  }

  /** Kills the process and waits for its end. */
  async end(): Promise<void> {
    this.#isOver = true;
    // The caller waits for the child, so the parent must stay alive.
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
