/**
 * Runs .ci/run in a clean clone, and writes docs/measurements/ci.json: the seconds of the whole
 * run, and of all steps and scenarios. If ../shared exists, a copy of it lies beside the clone. The
 * clone of a run that fails is kept, for its logs.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { writeMeasurement } from '../bench/report.ts';
import { cpuSecondsOf, readAccounts, type Account } from './test/account.ts';

const repository = path.join(import.meta.dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'injector-ci-'));
const shared = path.join(repository, '..', 'shared');
try {
  const clone = path.join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', repository, clone]);
  if (existsSync(shared)) cpSync(shared, path.join(folder, 'shared'), { recursive: true });
  const [started, before] = [Date.now(), cpuSecondsOf('self')?.ended ?? 0];
  const child = spawn('bash', ['.ci/run'], {
    cwd: clone,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = text(child.stdout);
  child.stdout.pipe(process.stdout, { end: false });
  const [status] = (await once(child, 'close')) as [number | null];
  const seconds = Math.round((Date.now() - started) / 1000);
  const cpuSeconds = Math.round((cpuSecondsOf('self')?.ended ?? 0) - before);
  const accounts = readAccounts(path.join(clone, '.build/test/accounts.jsonl'));
  const figures = (kind: Account['kind']) =>
    accounts
      .filter((each) => each.kind === kind)
      .sort((one, other) => other.seconds - one.seconds)
      .map(({ name, seconds, cpuSeconds = 0, step = '' }) => ({
        name,
        ...(step === '' ? {} : { step }),
        seconds,
        cpuSeconds,
      }));
  const checks = (await output).trimEnd().split('\n').at(-1) ?? '';
  const summary = `${seconds} s and ${cpuSeconds} CPU seconds: ${checks}`;
  if (status === 0)
    writeMeasurement('ci', {
      ...{ summary, seconds, cpuSeconds, checks },
      steps: figures('step'),
      scenarios: figures('scenario'),
      controlPlanes: figures('control plane').map(({ seconds, cpuSeconds }) => ({ seconds, cpuSeconds })),
      slowestTestFiles: figures('test file').slice(0, 20),
    });
  console.log(summary);
  process.exitCode = status ?? 1;
} finally {
  if (process.exitCode === 0) rmSync(folder, { recursive: true, force: true });
  else console.log(`the clone and its logs: ${folder}`);
}
