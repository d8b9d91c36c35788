import { spawn } from 'node:child_process';
import { setInterval } from 'node:timers';

export interface GoBuild {
  /** What is being built, for people. */
  name: string;
  /** Arguments of `go`; `-v` among them makes it print one line for each package it compiles. */
  arguments: string[];
  directory: string;
  environment?: Record<string, string>;
}

/**
 * Runs `go`, showing the elapsed time and the number of compiled packages:
 * one line that is rewritten on a terminal, a plain line every 15 s elsewhere.
 *
 * @throws Error with the last lines of Go's output when it fails.
 */
export async function runGo(build: GoBuild, report: (line: string) => void): Promise<void> {
  const started = Date.now();
  const terminal = process.stdout.isTTY;
  let packages = 0;
  let downloads = 0;
  const tail: string[] = [];
  const status = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const elapsed = `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
    const fetched = downloads > 0 ? `, ${downloads} modules fetched` : '';
    return `building ${build.name}: ${elapsed}, ${packages} packages compiled${fetched}`;
  };
  report(`building ${build.name} (minutes when Go's cache is cold, seconds when it is warm) …`);
  const child = spawn('go', build.arguments, {
    cwd: build.directory,
    env: { ...process.env, ...build.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const read = (chunk: Buffer) => {
    for (const line of chunk.toString('utf8').split('\n')) {
      if (line === '') continue;
      tail.push(line);
      if (tail.length > 40) tail.shift();
      if (line.startsWith('go: downloading ')) downloads++;
      else packages++;
    }
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const timer = setInterval(
    () => {
      if (terminal) process.stdout.write(`\r\u001b[K${status()}`);
      else report(status());
    },
    terminal ? 500 : 15_000,
  );
  const interruption = new AbortController();
  const stop = () => {
    interruption.abort();
    child.kill('SIGTERM');
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (interruption.signal.aborted) throw new Error(`building the ${build.name} was interrupted`);
    if (code !== 0)
      throw new Error(`\`go ${build.arguments[0] ?? ''}\` failed for the ${build.name}:\n${tail.join('\n')}`);
  } finally {
    clearInterval(timer);
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    if (terminal) process.stdout.write('\r\u001b[K');
  }
  report(status());
}
