/**
 * Runs the core scenarios by the Node that the image ships, where the tests otherwise run by the Node of the machine.
 * That Node comes from npm, once for all clones, and must be the one whose digest node-version.json has.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const { version, integrity } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'node-version.json'), 'utf8'),
) as { version: string; integrity: Readonly<Record<string, string>> };

/** The folder of that Node, in the user's cache folder. */
function fetchNode(digest: string): string {
  const { XDG_CACHE_HOME: named = '' } = process.env;
  const cache = path.join(named === '' ? path.join(homedir(), '.cache') : named, 'sidecar-injector');
  const kept = path.join(cache, `node-${version}-${process.arch}`);
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true });
    // Renamed when it is whole: another clone may fetch it at the same time.
    const folder = mkdtempSync(path.join(cache, 'fetching-'));
    try {
      const wanted = `node-linux-${process.arch}@${version}`;
      const pack = ['pack', wanted, '--pack-destination', folder, '--loglevel=error'];
      const archive = path.join(folder, execFileSync('npm', pack, { encoding: 'utf8' }).trim());
      const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
      if (found !== digest) throw new Error(`${wanted} has the digest ${found}, not ${digest}`);
      execFileSync('tar', ['-xzf', archive, '-C', folder]);
      // Every process of Node below fails by this unless it is the wanted one.
      const guard = `if (process.versions.node !== '${version}') throw new Error('this is Node ' + process.version);\n`;
      writeFileSync(path.join(folder, 'package', 'only-this-node.cjs'), guard);
      renameSync(path.join(folder, 'package'), kept);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  utimesSync(kept, new Date(), new Date());
  return kept;
}

const digest = process.platform === 'linux' ? integrity[process.arch] : undefined;
if (digest === undefined) {
  console.log(
    `there is no Node ${version} of the image for ${process.platform}/${process.arch}: nothing was run by it`,
  );
  console.log('0 passed, 0 failed');
} else {
  const folder = fetchNode(digest);
  const node = path.join(folder, 'bin', 'node');
  console.log(`by Node ${version}:`);
  const { status } = spawnSync(
    node,
    [...process.execArgv, 'e2e/run.ts', ...(process.argv[2] ? process.argv.slice(2) : ['--core'])],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        PATH: `${path.dirname(node)}:${process.env['PATH'] ?? ''}`,
        NODE_OPTIONS: `--require=${JSON.stringify(path.join(folder, 'only-this-node.cjs'))}`,
      },
    },
  );
  process.exitCode = status ?? 1;
}
