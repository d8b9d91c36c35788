/**
 * Runs scenarios on the image's Node version; the other tests run on the machine's Node:
 * `image-node.ts [--core] [SCENARIO…]`, with the arguments of e2e/run.ts.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fetchNode, shippedNode } from './base.ts';

const { platform, arch } = process;
const { version } = shippedNode;
if (platform === 'linux' && (arch === 'x64' || arch === 'arm64')) {
  const { folder } = await fetchNode(arch, (line) => console.log(line));
  const programs = path.join(folder, 'usr/local/bin');
  // The guard fails in children that run another Node version. Operators run on process.execPath.
  const guard = `if(process.versions.node!=='${version}')throw(new(Error)('this_is_Node_'+process.version))`;
  const selected = process.argv.slice(2);
  console.log(`with Node ${version}:`);
  const { status } = spawnSync(path.join(programs, 'node'), [...process.execArgv, 'e2e/run.ts', ...selected], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      NODE_OPTIONS: `--import=data:text/javascript,${guard}`,
    },
  });
  process.exitCode = status ?? 1;
} else {
  console.log(`the image's Node ${version} needs Linux: on ${platform}/${arch} no scenario ran`);
  console.log('0 passed, 0 failed');
}
