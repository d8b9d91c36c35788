import type { Scenario } from '../harness/scenario.ts';
import { checkApplies } from './kube-machinery/applies.ts';
import { checkElections } from './kube-machinery/elections.ts';
import { checkExpired } from './kube-machinery/expired-watches.ts';
import { checkBrokenWatch, checkHungWatch, checkPagedList, checkTimeouts } from './kube-machinery/lists-and-watches.ts';
import { checkOutage } from './kube-machinery/outage.ts';
import { checkEvents } from './kube-machinery/recorded-events.ts';
import { checkStatuses } from './kube-machinery/statuses.ts';
import { checkBackOff, checkDeduplication, checkOverallRate } from './kube-machinery/work-queues.ts';
import { Workbench } from './kube-machinery/workbench.ts';

/** What src/kube is made of, each part by itself against the real API server and a way to it that fails; nothing of the operator runs. */
export const kubeMachinery: Scenario = {
  name: 'kube-machinery',
  about:
    "reflector, store, queue, server-side apply, leader election, Events and status against the real API server, each figure beside client-go's",
  destructive: 'it makes etcd forget its past',
  ownControlPlane: true,
  run: async (context) => {
    const bench = await Workbench.open(context);
    try {
      // Each part has clients and objects of its own, and most of them wait: for a watch that hangs, 40 s.
      await together([
        checkHungWatch(bench),
        checkElections(bench),
        checkTimeouts(bench),
        checkEvents(bench),
        inTurn([
          () => checkPagedList(bench),
          () => checkBrokenWatch(bench),
          () => checkOutage(bench),
          () => checkExpired(bench),
          () => checkApplies(bench),
          () => checkStatuses(bench),
          () => checkDeduplication(bench),
          () => checkBackOff(bench),
          () => checkOverallRate(bench),
        ]),
      ]);
      bench.report();
    } finally {
      await bench.close();
    }
    return `${context.passed} statements about reflector, store, queue, apply, lease, events and status held to client-go's figures`;
  },
};

async function inTurn(parts: readonly (() => Promise<void>)[]): Promise<void> {
  for (const part of parts) await part();
}

/** Waits for all of them, so that none goes on after the scenario has ended; then fails with what failed. */
async function together(parts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(parts);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  if (failures.length > 0) throw new Error(failures.join('; '));
}
