/**
 * Runs the core scenarios by the Node that the image ships; the other tests run by the Node of the machine.
 * `image-node.ts [SCENARIO…]` runs others.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fetchNode, shippedNode } from './base.ts';

const { platform, arch } = process;
const { version } = shippedNode;
if (platform === 'linux' && (arch === 'x64' || arch === 'arm64')) {
  const { folder } = await fetchNode(arch, (line) => console.log(line));
  const programs = path.join(folder, 'usr/local/bin');
  // Every process of Node that inherits this fails unless it is the wanted one. Operators run by process.execPath.
  const guard = `if(process.versions.node!=='${version}')throw(new(Error)('this_is_Node_'+process.version))`;
  const wanted = process.argv.length > 2 ? process.argv.slice(2) : ['--core'];
  console.log(`by Node ${version}:`);
  const { status } = spawnSync(path.join(programs, 'node'), [...process.execArgv, 'e2e/run.ts', ...wanted], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      NODE_OPTIONS: `--import=data:text/javascript,${guard}`,
    },
  });
  process.exitCode = status ?? 1;
} else {
  console.log(`Node ${version} of the image is one for Linux: on ${platform}/${arch} nothing was run by it`);
  console.log('0 passed, 0 failed');
}
