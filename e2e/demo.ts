/**
 * `make demo`: an API server, the chart, the operator, one InjectorConfig and one Deployment, before and after. `KEEP=1` leaves it up.
 * A cluster that `make up` started is used and stays; a cluster of the user's own is used with `--destructive --advertise HOST` only.
 */
import { parseArgs } from 'node:util';
import { demonstrate } from './demo/demonstrate.ts';
import { howToTryMore } from './demo/try-more.ts';
import { buildBinaries } from './harness/build.ts';
import { namesOwnCluster, openCluster, type Cluster } from './harness/cluster.ts';
import { onInterrupt } from './harness/interrupt.ts';
import { endStandingOperators, openStandingCluster, standingCluster } from './harness/standing-cluster.ts';

const report = (line: string) => {
  console.log(line);
};

interface Stage {
  cluster: Cluster;
  /** Whether the cluster was there before us or is to stay. */
  stays: boolean;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      destructive: { type: 'boolean', default: false },
      context: { type: 'string' },
      advertise: { type: 'string' },
    },
  });
  const choice = { context: values.context, advertiseHost: values.advertise };
  const own = namesOwnCluster(choice);
  if (own && (!values.destructive || choice.advertiseHost === undefined)) {
    console.error(
      'KUBECONFIG or --context names a cluster of your own. The demo installs an injector there that selects every namespace labelled\n' +
        'istio-injection=enabled, and the cluster must reach this machine: run e2e/demo.ts --destructive --advertise HOST, or unset KUBECONFIG',
    );
    return 2;
  }
  // On a cluster of the user's own nothing is kept: its pods must not wait for a process on this machine.
  const keep = !own && (process.env['KEEP'] ?? '') !== '' && process.env['KEEP'] !== '0';
  const started = Date.now();
  await buildBinaries(report, !own);
  const { cluster, stays } = own ? { cluster: await openCluster(choice, report), stays: false } : await openStage(keep);
  const end = async (failed: boolean) => {
    if (!stays) await cluster.stop(failed);
    else if (!keep) endStandingOperators();
  };
  const stopInterrupting = onInterrupt(() => end(true));
  let failed = true;
  try {
    await demonstrate(cluster, report, { keep, stays: own || stays });
    failed = false;
    if (keep) report(howToTryMore(cluster));
  } catch (error) {
    console.error(
      `the demo failed: ${error instanceof Error ? error.message : String(error)}\nlogs: ${cluster.run.path}`,
    );
  }
  stopInterrupting();
  if (failed || !keep) await end(failed);
  if (!failed)
    report(
      `done in ${((Date.now() - started) / 1000).toFixed(1)} s${stays || own ? '' : ', nothing is left running; KEEP=1 make demo leaves it up'}`,
    );
  return failed ? 1 : 0;
}

/** The standing cluster if there is one or it is wanted, else one of this run's own. */
async function openStage(keep: boolean): Promise<Stage> {
  const standing = await standingCluster();
  if (standing !== undefined) {
    endStandingOperators();
    return { cluster: standing, stays: true };
  }
  return keep
    ? { cluster: await openStandingCluster(report), stays: true }
    : { cluster: await openCluster({}, report), stays: false };
}

// Operators and control planes that stay must not keep this process.
process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }),
);
