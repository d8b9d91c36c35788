import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { paths, repository } from './paths.ts';

const run = promisify(execFile);

/**
 * The bundle of an earlier commit, built from the repository's own history; returns its path. It is built once.
 *
 * @param commit 40 hex digits, or their beginning
 * @throws Error when the clone is shallow, or its packages are not those of the commit
 */
export async function earlierBundle(commit: string): Promise<string> {
  const folder = join(paths.earlier, commit);
  const bundle = join(folder, 'dist', 'injector.cjs');
  if (existsSync(bundle)) return bundle;
  const git = { cwd: repository, maxBuffer: 256 << 20 };
  const isThere = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], git).status === 0;
  if (!isThere) throw new Error(`this clone has no commit ${commit}: \`git fetch --unshallow\` fetches what it lacks`);
  const packages = spawnSync('git', ['diff', '--quiet', commit, 'HEAD', '--', 'package-lock.json'], git).status;
  if (packages !== 0) throw new Error(`commit ${commit} has other npm packages: build its bundle by hand at ${bundle}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'source.tar');
  await run('git', ['archive', '--output', archive, commit], git);
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, ['--import', 'ts-blank-space/register', 'scripts/build.ts'], { cwd: folder });
  return bundle;
}
