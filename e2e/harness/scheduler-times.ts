import { readFileSync } from 'node:fs';

/**
 * Returns how long a process's main thread has run, and has waited for a processor, in
 * milliseconds. Returns undefined if the process or the file /proc/PID/schedstat (Linux:
 * https://docs.kernel.org/scheduler/sched-stats.html) does not exist.
 */
export function schedulerTimes(pid = 0): { ran: number; waited: number } | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return undefined;
  }
}
