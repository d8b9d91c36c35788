/** A run with a container on a real node, which `real-pods` kills. Prints its addresses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { agentImage, nodeImages } from '../../harness/node/images.ts';
import { nodePrograms } from '../../harness/node/node-programs.ts';
import { openSandbox } from '../../harness/node/sandbox.ts';
import { createRunDirectory } from '../../harness/run-directory.ts';

const run = createRunDirectory();
const sandbox = await openSandbox(run);
const { containerd } = nodePrograms(sandbox, run.path, () => '');
containerd.process.start();
await containerd.process.waitUntilReady(containerd.isReady, 30_000);
const ctr = (...command: string[]) => sandbox.execute('ctr', '--namespace', 'k8s.io', ...command);
const [agent = []] = await nodeImages(console.error);
await ctr('images', 'import', ...agent);
await ctr('run', '--detach', '--cgroup', `/${sandbox.plan.cgroup}/pods/left`, agentImage, 'left');
console.log(JSON.stringify({ plan: sandbox.plan, folder: sandbox.folder }));
await sleep(600_000);
