import { readFileSync } from 'node:fs';

/** What a process's main thread has had of the processors since its start, in milliseconds. */
export interface SchedulerTimes {
  run: number;
  /** It could have run, and other threads were. */
  waited: number;
}

/** Undefined where the system does not tell (Linux: https://docs.kernel.org/scheduler/sched-stats.html, /proc/PID/schedstat), and of a process that is not there. */
export function schedulerTimes(pid: number | undefined): SchedulerTimes | undefined {
  try {
    const [run, waited] = readFileSync(`/proc/${pid ?? 0}/task/${pid ?? 0}/schedstat`, 'utf8').split(' ');
    return { run: Number(run) / 1e6, waited: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}
