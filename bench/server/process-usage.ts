import { readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of 10 ms (USER_HZ is 100 on every platform that Node supports). */
const millisecondsPerTick = 10;

export interface ProcessUsage {
  /** User and system time of all threads since the process began. */
  readonly cpuMilliseconds: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  /** How long its main thread was ready to run and had no core, in milliseconds: what other processes did to it. */
  readonly waitedMilliseconds: number;
}

/** What a process has used so far, from /proc: the CPU time does not depend on what else the machine does. */
export function processUsage(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command in parentheses and may hold spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return {
    cpuMilliseconds: ticks * millisecondsPerTick,
    residentBytes: kibibytes('VmRSS') * 1024,
    peakResidentBytes: kibibytes('VmHWM') * 1024,
    // Time on a core, time waiting for one (both in nanoseconds), and how often it got one.
    waitedMilliseconds: Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6,
  };
}
