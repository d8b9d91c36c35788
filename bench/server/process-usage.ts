import { readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of 10 ms (USER_HZ is 100 on all platforms of Node). */
const millisecondsPerTick = 10;

export interface ProcessUsage {
  /** The user and system time of all threads since the process started. */
  readonly cpuMilliseconds: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
  /** How long the main thread was ready to run but waited for a core, in milliseconds. */
  readonly waitedMilliseconds: number;
}

/** Reads the resource usage of a process from /proc. */
export function processUsage(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Field 2 is the command in parentheses and may contain spaces. Fields 14 and 15: utime, stime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return {
    cpuMilliseconds: ticks * millisecondsPerTick,
    residentBytes: kibibytes('VmRSS') * 1024,
    peakResidentBytes: kibibytes('VmHWM') * 1024,
    // Fields: nanoseconds on a core, nanoseconds waiting for a core, number of time slices.
    waitedMilliseconds: Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6,
  };
}
