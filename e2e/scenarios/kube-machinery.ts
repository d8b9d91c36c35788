import { join } from 'node:path';
import { mergeConditions, type ObservedCondition } from '../../src/api/kubernetes/conditions.ts';
import { isConflict } from '../../src/kube/api-error.ts';
import { writeStatus } from '../../src/kube/status-writer.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { checkApplies } from './kube-machinery/applies.ts';
import { checkElections } from './kube-machinery/elections.ts';
import { checkExpired } from './kube-machinery/expired-watches.ts';
import { checkBrokenWatch, checkHungWatch, checkPagedList, checkTimeouts } from './kube-machinery/lists-and-watches.ts';
import { checkOutage } from './kube-machinery/outage.ts';
import { checkEvents } from './kube-machinery/recorded-events.ts';
import { checkBackOff, checkDeduplication, checkOverallRate } from './kube-machinery/work-queues.ts';
import { Workbench } from './kube-machinery/workbench.ts';
import { applyAll, applyObject, readObjects } from '../harness/apply.ts';
import { found } from '../harness/wait-for.ts';
import { injectorConfigs, smallConfig, type InjectorConfigObject } from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';

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

const client = 'km-status';

/** A status is written whole, once, only when it says something new, and never onto an object that somebody has changed meanwhile. */
export async function checkStatuses(bench: Workbench): Promise<void> {
  const { context } = bench;
  const writer = bench.client(client);
  await applyAll(context.client, readObjects(join(paths.crds, 'injectorconfigs.sidecar-injector.io.yaml')));
  const read = await applyObject(context.client, smallConfig(client));
  const write = async (object: InjectorConfigObject, message: string, now: Date) => {
    const observed: ObservedCondition[] = [
      { type: 'Ready', status: 'False', reason: 'Trying', message },
      { type: 'TemplatesValid', status: 'True', reason: 'Compiled', message: '' },
    ];
    const conditions = mergeConditions(object.status?.conditions ?? [], observed, now);
    const options = { fieldManager: client };
    return (await writeStatus(writer, object, { observedGeneration: 1, conditions }, options)) ?? object;
  };
  let object = read;
  for (let pass = 0; pass < 50; pass++) object = await write(object, 'the same', new Date(Date.now() + pass * 60_000));
  await context.checkNow('two conditions that 50 passes find the same are written once, together', () => {
    found(bench.writesOf(client).join(), 'patch 200');
    return object.status?.conditions?.length === 2;
  });
  const before = object.status?.conditions?.[0]?.lastTransitionTime;
  object = await write(object, 'another', new Date(Date.now() + 3_600_000));
  await context.checkNow('another message is one write, and no transition', () => {
    found(bench.writesOf(client).join(), 'patch 200,patch 200');
    return object.status?.conditions?.[0]?.lastTransitionTime === before;
  });
  await applyObject(context.client, smallConfig(client, { timeoutSeconds: 7 }));
  const refused = await write(object, 'too late', new Date()).catch((error: unknown) => error);
  const { status } = await context.client.get<InjectorConfigObject>(injectorConfigs, client);
  await context.checkNow(
    'a status that was found for an older object is refused (409), and what is stored stays',
    () => isConflict(refused) && found(status?.conditions?.[0]?.message ?? '', 'another'),
  );
  bench.compare('status', '50 passes that find the same', '1 request', '50 requests');
}
