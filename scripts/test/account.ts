import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What a step, scenario, control plane or test file took. */
export interface Account {
  readonly kind: 'step' | 'scenario' | 'control plane' | 'test file';
  readonly name: string;
  /** The step that it belongs to. */
  readonly step?: string;
  readonly seconds: number;
  /**
   * The CPU seconds of a step or test file with all processes that it started; of a scenario, only
   * those of these processes. Undefined where the system has no /proc.
   */
  readonly cpuSeconds?: number | undefined;
}

const { TEST_ACCOUNT: namedFile, TEST_STEP: step } = process.env;

/** Appends a line to a file; by default the file that TEST_ACCOUNT named, if any. */
export function account({ kind, name, seconds, cpuSeconds }: Account, file = namedFile): void {
  if (file === undefined) return;
  const round = (value: number): number => Math.round(value * 100) / 100;
  const rounded = { seconds: round(seconds), cpuSeconds: cpuSeconds === undefined ? undefined : round(cpuSeconds) };
  appendFileSync(file, `${JSON.stringify({ kind, name, step, ...rounded })}\n`);
}

export function readAccounts(file: string): Account[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Account);
}

/**
 * Returns the CPU seconds of a process, and of those of its children that have ended and their
 * descendants. Undefined if the process does not exist, or where the system has no /proc.
 */
export function cpuSecondsOf(pid: number | 'self'): { own: number; ended: number } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // Fields 14 to 17 of proc(5), in ticks of 10 ms. The name of the program may contain blanks.
  const [user, system, endedUser, endedSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map((ticks) => Number(ticks) / 100) as [number, number, number, number];
  return { own: user + system, ended: endedUser + endedSystem };
}
