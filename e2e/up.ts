/**
 * `make up`: starts the embedded control plane and leaves it running, unless it already runs. Its
 * pods run if this machine has what a real node needs; NODE=real and NODE=fake choose.
 */
import { buildBinaries } from './harness/build.ts';
import { choosesRealNode } from './harness/node/choose-node.ts';
import { printFailure } from './harness/print-failure.ts';
import { openStandingCluster, standingCluster } from './harness/standing-cluster.ts';

const report: (line: string) => void = console.log;

async function main(): Promise<void> {
  await buildBinaries(report);
  const running = await standingCluster();
  if (running !== undefined) report(`the control plane already runs at ${running.client.server}`);
  const cluster = running ?? (await openStandingCluster(choosesRealNode(report), report));
  report(`use it:  export KUBECONFIG=${cluster.kubeconfig ?? ''}\nstop it: make down`);
}

process.exit(await main().then(() => 0, printFailure));
