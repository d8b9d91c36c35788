/**
 * Runs the core scenarios, or those that are named, by the Node that the image ships, where the tests otherwise run by the Node of the machine.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fetchNode, shippedNode } from './base.ts';

const { version } = shippedNode;
const { arch, platform } = process;
if (platform === 'linux' && (arch === 'x64' || arch === 'arm64')) {
  const { folder } = await fetchNode(arch, (line) => console.log(line));
  const binaries = path.join(folder, 'usr', 'local', 'bin');
  const scratch = mkdtempSync(path.join(tmpdir(), 'injector-node-'));
  try {
    // Every process of Node below fails by this unless it is the wanted one.
    const guard = path.join(scratch, 'only-this-node.cjs');
    writeFileSync(
      guard,
      `if (process.versions.node !== '${version}') throw new Error('this is Node ' + process.version);\n`,
    );
    console.log(`by Node ${version}:`);
    const named = process.argv.slice(2);
    const command = [...process.execArgv, 'e2e/run.ts', ...(named.length > 0 ? named : ['--core'])];
    const environment = {
      ...process.env,
      PATH: `${binaries}${path.delimiter}${process.env['PATH'] ?? ''}`,
      NODE_OPTIONS: `--require=${JSON.stringify(guard)}`,
    };
    const { status } = spawnSync(path.join(binaries, 'node'), command, { stdio: 'inherit', env: environment });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(scratch, { recursive: true });
  }
} else {
  console.log(`there is no Node ${version} of the image for ${platform}/${arch}: nothing was run by it`);
  console.log('0 passed, 0 failed');
}
