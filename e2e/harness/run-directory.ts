import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './paths.ts';

const keptLogs = 5;
/** How many this process has made: two may begin in the same millisecond. */
let created = 0;

/**
 * A directory for one control plane, with a list of the processes that belong to it.
 * Every one of them has the directory's name in its command line, which is how a recycled process id is told from our own.
 *
 * @param ended is called when its processes have ended
 */
function runDirectory(path: string, ended: () => void) {
  return {
    path,
    recordProcess: (pid: number, name: string) => {
      appendFileSync(join(path, 'processes'), `${pid} ${name}\n`);
    },
    remove: (keepLogs: boolean) => {
      endListedProcesses(path);
      ended();
      removeBulk(path, keepLogs);
    },
  };
}

export type RunDirectory = ReturnType<typeof runDirectory>;

/** Creates a directory below .build/run after ending what crashed runs left there. */
export function createRunDirectory(): RunDirectory {
  mkdirSync(paths.runs, { recursive: true });
  reapLeftovers();
  const started = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const path = join(paths.runs, `${started}-${++created}-${process.pid}`);
  mkdirSync(path);
  const endGuard = startGuard(path);
  return runDirectory(path, () => {
    rmSync(join(path, 'processes'), { force: true });
    endGuard();
  });
}

/** The directory of the standing cluster: its processes outlive the command that starts them, so nothing guards them. */
export function openStandingDirectory(): RunDirectory {
  mkdirSync(paths.standing, { recursive: true });
  return runDirectory(paths.standing, () => undefined);
}

/**
 * Ends the processes that the directory lists, that have a wanted name and that still belong to it;
 * returns the names of those that ran.
 */
export function endListedProcesses(directory: string, wanted: (name: string) => boolean = () => true): string[] {
  const list = join(directory, 'processes');
  if (!existsSync(list)) return [];
  const ended: string[] = [];
  for (const line of readFileSync(list, 'utf8').split('\n')) {
    const [pid = '', name = ''] = line.split(' ');
    if (pid === '' || !wanted(name) || commandLine(Number(pid))?.includes(directory) !== true) continue;
    if (signalGroup(Number(pid), 'SIGKILL')) ended.push(name);
  }
  return ended;
}

/** Ends the processes of runs whose own process is gone, and forgets all but the last few logs. */
function reapLeftovers(): void {
  const runs = readdirSync(paths.runs)
    .map((name) => join(paths.runs, name))
    .filter((path) => statSync(path).isDirectory())
    .sort();
  const abandoned = runs.filter((path) => commandLine(Number(path.split('-').at(-1))) === undefined);
  for (const path of abandoned) {
    endListedProcesses(path);
    removeBulk(path, true);
  }
  for (const path of abandoned.slice(0, -keptLogs)) rmSync(path, { recursive: true, force: true });
}

function removeBulk(path: string, keepLogs: boolean): void {
  const removed = keepLogs ? ['etcd', 'certificates', 'processes'].map((name) => join(path, name)) : [path];
  for (const each of removed) rmSync(each, { recursive: true, force: true });
}

/**
 * Starts a shell that waits for the end of its standard input, which comes when this process ends in whatever way,
 * and then kills what the list still holds. It is what makes SIGKILL of the harness leave nothing behind.
 */
function startGuard(directory: string): () => void {
  const script = `cat >/dev/null
[ -f "$1/processes" ] || exit 0
while read -r pid name; do
  if [ -d /proc/self ]; then line=$(tr '\\0' ' ' <"/proc/$pid/cmdline"); else line=$(ps -o command= -p "$pid"); fi 2>/dev/null
  case $line in *"$1"*) kill -s KILL -- "-$pid" ;; esac
done <"$1/processes"
`;
  const guard = spawn('/bin/sh', ['-c', script, 'guard', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  // The pipe must not keep this process alive either.
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  return () => guard.stdin.end();
}

/** The command line of a process, or undefined when there is none with that id (or it has ended and was not collected yet). */
function commandLine(pid: number): string | undefined {
  try {
    const line = existsSync('/proc/self/cmdline')
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return line.trim() === '' ? undefined : line.trim();
  } catch {
    return undefined;
  }
}

/** Sends a signal to a process group; false when the group is gone. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
