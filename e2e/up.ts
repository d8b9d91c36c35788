/**
 * `make up`: starts the embedded control plane and leaves it running; starting it twice changes nothing.
 * With a cluster of the user's own there is nothing to start.
 */
import { buildBinaries } from './harness/build.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { openStandingCluster, standingCluster, stopStandingCluster } from './harness/standing-cluster.ts';

const report = (line: string) => {
  console.log(line);
};

async function main(): Promise<void> {
  await buildBinaries(report);
  const running = await standingCluster();
  if (running !== undefined) report(`it is running already at ${running.client.server}`);
  // Whoever gives up in the middle wants nothing left behind.
  const stopInterrupting = onInterrupt(() => Promise.resolve(stopStandingCluster()));
  const cluster = running ?? (await openStandingCluster(report));
  stopInterrupting();
  report(`use it:  export KUBECONFIG=${cluster.kubeconfig ?? ''}\nstop it: make down`);
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    stopStandingCluster();
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
