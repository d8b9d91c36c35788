import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './paths.ts';

const keptLogs = 5;
/** A shell script in a run's directory that runs after all its processes have ended. */
export const cleanupFile = 'cleanup.sh';
/** The number of directories that this process created, which makes their names unique. */
let created = 0;

/**
 * Manages a directory for one control plane with a list of its processes. The command line of each
 * process contains the directory's name, so that a reused process ID is recognized.
 *
 * @param ended called when the processes have ended
 */
function runDirectory(path: string, ended: () => void) {
  return {
    path,
    recordProcess: (pid: number, name: string) => appendFileSync(join(path, 'processes'), `${pid} ${name}\n`),
    remove: (keepLogs: boolean) => {
      endRun(path);
      ended();
      removeBulk(path, keepLogs);
    },
  };
}

export type RunDirectory = ReturnType<typeof runDirectory>;

/** Cleans up after crashed runs, and creates a directory below .build/run. */
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

/** Opens the standing cluster's directory. It has no guard, because its processes must survive. */
export function openStandingDirectory(): RunDirectory {
  mkdirSync(paths.standing, { recursive: true });
  return runDirectory(paths.standing, () => undefined);
}

/** Kills listed processes that still belong to the directory. Returns their names. */
export function endListedProcesses(directory: string, isSelected: (name: string) => boolean = () => true): string[] {
  const list = join(directory, 'processes');
  if (!existsSync(list)) return [];
  const ended: string[] = [];
  for (const line of readFileSync(list, 'utf8').split('\n')) {
    const [pid = '', name = ''] = line.split(' ');
    if (pid === '' || !isSelected(name) || commandLine(Number(pid))?.includes(directory) !== true) continue;
    if (signalGroup(Number(pid), 'SIGKILL')) ended.push(name);
  }
  return ended;
}

/** Kills all listed processes, and then removes what the directory's cleanup script names. */
export function endRun(directory: string): string[] {
  const ended = endListedProcesses(directory);
  const script = join(directory, cleanupFile);
  if (existsSync(script)) execFileSync('sh', [script], { stdio: 'ignore' });
  return ended;
}

/** Kills the processes of runs whose harness ended. Keeps only the last few logs. */
function reapLeftovers(): void {
  const runs = readdirSync(paths.runs)
    .map((name) => join(paths.runs, name))
    .filter((path) => statSync(path).isDirectory())
    .sort();
  const abandoned = runs.filter((path) => commandLine(Number(path.split('-').at(-1))) === undefined);
  for (const path of abandoned) {
    endRun(path);
    removeBulk(path, true);
  }
  for (const path of abandoned.slice(0, -keptLogs)) rmSync(path, { recursive: true, force: true });
}

function removeBulk(path: string, keepLogs: boolean): void {
  const removed = keepLogs
    ? ['etcd', 'certificates', 'node', cleanupFile, 'processes'].map((name) => join(path, name))
    : [path];
  for (const each of removed) rmSync(each, { recursive: true, force: true });
}

/**
 * Starts a shell that waits until this process ends (its standard input closes) and then kills the
 * processes still on the list. This cleans up even after a SIGKILL of the harness.
 */
function startGuard(directory: string): () => void {
  const script = `cat >/dev/null
[ -f "$1/processes" ] || exit 0
while read -r pid name; do
  if [ -d /proc/self ]; then line=$(tr '\\0' ' ' <"/proc/$pid/cmdline"); else line=$(ps -o command= -p "$pid"); fi 2>/dev/null
  case $line in *"$1"*) kill -s KILL -- "-$pid" ;; esac
done <"$1/processes"
[ -f "$1/${cleanupFile}" ] && sh "$1/${cleanupFile}" && rm -rf "$1/node"
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

/** Returns the command line of a process; undefined if it does not run or is a zombie. */
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

/** Sends a signal to a process group; returns false if the group does not exist. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
