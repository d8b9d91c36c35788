/** `make up`: starts the embedded control plane and leaves it running, unless it already runs. */
import { buildBinaries } from './harness/build.ts';
import { openStandingCluster, standingCluster } from './harness/standing-cluster.ts';

const report = (line: string) => {
  console.log(line);
};

async function main(): Promise<void> {
  await buildBinaries(report);
  const running = await standingCluster();
  if (running !== undefined) report(`the control plane already runs at ${running.client.server}`);
  const cluster = running ?? (await openStandingCluster(report));
  report(`use it:  export KUBECONFIG=${cluster.kubeconfig ?? ''}\nstop it: make down`);
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
