import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Carrier, type CarrierEvent, defaultHelperBounds } from '../helper/helper.ts';
import type { WorkerProgram } from '../worker/worker-program.ts';
import type { FromTrial, ToTrial, TrialAnswer } from './try-configuration.ts';

/** The limits of a trial, with times in milliseconds. */
export const defaultTrialLimits = {
  ...defaultHelperBounds,
  /** The CPU time of a first trial, and of a second trial that runs after all other trials. */
  processorTimes: [1_000, 4_000] as readonly [first: number, second: number],
  /** The heap of the process, in MiB. */
  heapMebibytes: 192,
  /** The stack, in KiB; smaller than the stack of the main thread, which therefore suffices. */
  stackKibibytes: 700,
  /** The size of a parsed configuration in a message, in bytes. */
  maxAnswerBytes: 8 * 1024 * 1024,
};

export type TrialLimits = Readonly<typeof defaultTrialLimits>;

/** Linux counts CPU time in ticks of 10 ms (USER_HZ is 100 on all platforms of Node). */
const millisecondsPerTick = 10;
/** The number of characters of standard error to log. */
const maxStderr = 2_000;

/**
 * Starts a process that tries configurations. It is not a thread, because one large allocation
 * beyond a thread's heap limit ends the whole process, and code without calls cannot be terminated
 * (docs/adr/0011).
 */
export function startTrialProcess(
  { source, isText }: WorkerProgram,
  { heapMebibytes, stackKibibytes }: TrialLimits,
  report: (event: CarrierEvent<TrialAnswer>) => void,
): Carrier<ToTrial> {
  const flags = [`--max-old-space-size=${heapMebibytes}`, `--stack-size=${stackKibibytes}`];
  const args = isText ? [...flags, '-'] : [...process.execArgv, ...flags, fileURLToPath(source)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Do not pass on proxies, tokens or Node's options.
    env: {},
  });
  const { stdin, stderr } = child;
  const begun = performance.now();
  let isReady = false;
  let task: ToTrial | undefined;
  /** The CPU time before the task, in milliseconds. */
  let before = 0;
  let errors = '';
  function send(): void {
    if (!isReady || task === undefined) return;
    before = processorTimeOf(child.pid, begun);
    // If sending fails, the process has ended, which is reported.
    child.send(task, () => undefined);
    task = undefined;
  }
  stdin?.on('error', () => undefined);
  stdin?.end(isText ? source : undefined);
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < maxStderr) errors += text.slice(0, maxStderr);
  });
  child.on('message', (message: FromTrial) => {
    if (message.kind !== 'ready') {
      report({ answer: message });
      return;
    }
    isReady = true;
    send();
  });
  const exited = new Promise<void>((resolve) => {
    const end = (failure: 'memory' | 'crash', problem: string): void => {
      report({ lost: isReady ? failure : 'unstarted', problem: `${problem} ${errors}`.trim() });
      resolve();
    };
    child.on('error', (error) => end('crash', error.message));
    // Unlike event exit, event close comes after the end of standard error.
    child.on('close', (code, signal) => {
      // When memory runs out, V8 raises SIGABRT, or the kernel sends SIGKILL.
      const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || code === 134;
      end(isMemory ? 'memory' : 'crash', `ended with ${signal ?? `code ${code}`}`);
    });
  });
  // A timer keeps this process alive during a trial; an idle trial process must not do so.
  child.unref();
  child.channel?.unref();
  // The pipes are sockets, which would keep this process alive too.
  for (const stream of [stdin, stderr]) if (stream instanceof Socket) stream.unref();
  return {
    post(next) {
      task = next;
      send();
    },
    processorTime: () => (isReady ? processorTimeOf(child.pid, begun) - before : 0),
    end() {
      // The caller waits for the child, so the parent must stay alive.
      child.ref();
      child.kill('SIGKILL');
      return exited;
    },
  };
}

/** Returns the CPU time in milliseconds; the elapsed time on platforms without /proc. */
function processorTimeOf(pid: number | undefined, begun: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 is the command in parentheses and may contain spaces; utime and stime are fields 14
    // and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
  } catch {
    return performance.now() - begun;
  }
}
