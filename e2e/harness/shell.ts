import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { repository } from './paths.ts';

/** The exit code of a command and its output. */
export interface Said {
  readonly code: number | null;
  readonly text: string;
}

/** Runs a shell script as a user does. `isEndless` stops the script after 2 s (exit code 124). */
export async function runInShell(
  script: string,
  environment: NodeJS.ProcessEnv,
  { isEndless = false, folder = repository } = {},
): Promise<Said> {
  const child = spawn('bash', ['-c', script], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const timer = setTimeout(() => child.kill(), isEndless ? 2000 : 1_200_000);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  return { code: isEndless && code === null ? 124 : code, text };
}
