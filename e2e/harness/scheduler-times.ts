import { readFileSync } from 'node:fs';

/**
 * For how long a process's main thread has run since its start, and could have run while others did, in milliseconds. Undefined where the system does not
 * tell (Linux: https://docs.kernel.org/scheduler/sched-stats.html, /proc/PID/schedstat), and of a process that is not there.
 */
export function schedulerTimes(pid = 0): { ran: number; waited: number } | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return undefined;
  }
}
