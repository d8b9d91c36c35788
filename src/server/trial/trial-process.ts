import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { WorkerProgram } from '../worker/worker-program.ts';
import type { MonotonicClock } from '../ports.ts';
import type { FromTrial, ToTrial } from './try-configuration.ts';

/** Bounds of trying one configuration. Times in milliseconds. */
export const defaultTrialLimits = {
  /** CPU time of a first try, and of a second one that comes after everything else that waits. */
  processorTimes: [1_000, 4_000] as readonly [first: number, second: number],
  /** A try that has not had its CPU time by then says something of the machine, not of the configuration. */
  patience: 60_000,
  /** Of the heap of the process, in MiB. */
  heapMebibytes: 192,
  /** Of its stack, in KiB: less than the main thread has, so that what fits here fits there. */
  stackKibibytes: 700,
  /** What has been read of one configuration, in bytes, as it is handed over. */
  maxAnswerBytes: 8 * 1024 * 1024,
  /** A process without work is ended after this time. */
  idle: 15_000,
};

export type TrialLimits = Readonly<typeof defaultTrialLimits>;

/** Linux counts CPU time in ticks of 10 ms (USER_HZ is 100 on every platform that Node supports). */
const millisecondsPerTick = 10;
/** Of what it writes to its standard error, for the log. */
const maxComplaint = 2_000;

/**
 * A process that tries configurations. Not a thread: a thread's heap limit bounds what it gathers, but one large allocation beyond it ends the whole process, and code that
 * makes no calls cannot be terminated (docs/adr/0011).
 */
export class TrialProcess {
  readonly #child: ChildProcess;
  readonly #clock: MonotonicClock;
  readonly #begun: number;
  readonly #exited: Promise<void>;
  #complaint = '';
  #isOver = false;

  /** @param lost is told once, when it ends without having been asked to: whether it ran out of memory, and a line for the log */
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
      // Nothing of ours is its business: no proxies, no tokens, no options for Node.
      env: {},
    });
    const { stdin, stderr } = this.#child;
    stdin?.on('error', () => undefined);
    stdin?.end(program.isText ? program.source : undefined);
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#complaint.length < maxComplaint) this.#complaint += text.slice(0, maxComplaint);
    });
    this.#child.on('message', (message: FromTrial) => {
      if (!this.#isOver) receive(message);
    });
    const end = (isMemory: boolean, problem: string): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      lost(isMemory, `${problem} ${this.#complaint}`.trim());
    };
    this.#child.on('error', (error) => end(false, error.message));
    this.#exited = new Promise((resolve) => {
      // When its standard error has been read, too.
      this.#child.on('close', (code, signal) => {
        // V8 gives up with SIGABRT, the kernel with SIGKILL.
        const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || code === 134;
        end(isMemory, `ended with ${signal ?? `code ${code}`}`);
        resolve();
      });
    });
    // While it has something to do, there is a timer that keeps our process alive; an idle one must not.
    this.#child.unref();
    this.#child.channel?.unref();
    // Pipes of a child are sockets.
    for (const stream of [stdin, stderr]) if (stream instanceof Socket) stream.unref();
  }

  /** @returns milliseconds of CPU time that it has used; where that cannot be known, since when it runs */
  processorTime(): number {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
      // The second field is the command in parentheses and may hold spaces; utime and stime are the 14th and 15th.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
    } catch {
      return this.#clock() - this.#begun;
    }
  }

  send(message: ToTrial): void {
    // What cannot be sent any more has been lost, which is told.
    this.#child.send(message, () => undefined);
  }

  /** Ends it, whatever it is doing; nothing more comes from it. */
  async end(): Promise<void> {
    this.#isOver = true;
    // Somebody waits for it now.
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
