import { join } from 'node:path';
import { mergeConditions, type ObservedCondition } from '../../src/api/kubernetes/conditions.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { isConflict } from '../../src/kube/api-error.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import type { Clock } from '../../src/kube/ports.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { writeStatus } from '../../src/kube/status-writer.ts';
import { applyAll, applyObject, readObjects } from '../harness/apply.ts';
import { injectorConfigs, smallConfig, type InjectorConfigObject } from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { found } from '../harness/wait-for.ts';
import { checkApplies } from './kube-machinery/applies.ts';
import { checkElections } from './kube-machinery/elections.ts';
import { checkExpired, checkTimeouts } from './kube-machinery/lists-and-watches.ts';
import { configMap, NotedLog, openWorkbench, type Workbench } from './kube-machinery/workbench.ts';

export const kubeMachinery: Scenario = {
  name: 'kube-machinery',
  about: 'reflector, store, server-side apply, leader election, Events and status work with the real API server',
  destructive: 'it compacts etcd',
  ownControlPlane: true,
  alone: 'it judges how many milliseconds elections and watches take',
  run: async (context) => {
    const bench = await openWorkbench(context);
    // Run all parts concurrently: they share no objects, and mostly wait.
    const checks = [checkElections, checkTimeouts, checkEvents, checkExpired, checkApplies, checkStatuses];
    const running = checks.map((check) => check(bench));
    await sideBySide(context, running);
    return `${context.passed} checks of reflector, store, apply, lease, events and status`;
  },
};

const client = 'km-status';

/** Checks that a status is written only on changes, completely, and never onto a newer object. */
async function checkStatuses(bench: Workbench): Promise<void> {
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
  await context.checkNow('50 passes with the same two conditions cause one write with both', () => {
    found(bench.writesOf(client).join(), 'patch 200');
    return object.status?.conditions?.length === 2;
  });
  const before = object.status?.conditions?.[0]?.lastTransitionTime;
  object = await write(object, 'another', new Date(Date.now() + 3_600_000));
  await context.checkNow('a new message causes one write and keeps lastTransitionTime', () => {
    found(bench.writesOf(client).join(), 'patch 200,patch 200');
    return object.status?.conditions?.[0]?.lastTransitionTime === before;
  });
  await applyObject(context.client, smallConfig(client, { timeoutSeconds: 7 }));
  const refused = await write(object, 'too late', new Date()).catch((error: unknown) => error);
  const { status } = await context.client.get<InjectorConfigObject>(injectorConfigs, client);
  await context.checkNow(
    'the API server refuses a status for an older object (409), and keeps the stored status',
    () => isConflict(refused) && found(status?.conditions?.[0]?.message ?? '', 'another'),
  );
}

const events = resourceKind('events.k8s.io/v1', 'Event');
type RecordedEvent = KubernetesObject & { regarding: { name?: string }; series?: { count: number } };

/** Checks Events: repeats form a series, a rate limit applies per object, failures are logged. */
async function checkEvents(bench: Workbench): Promise<void> {
  const { context } = bench;
  const client = 'km-events';
  const namespace = await context.namespace('events');
  const [repeated, noisy] = await Promise.all(
    ['repeated', 'noisy'].map((name) => context.client.create(configMap(namespace, name))),
  );
  if (repeated === undefined || noisy === undefined) throw new Error('the objects were not created');
  const log = new NotedLog();
  const recorder = recorderOf(bench, client, log);
  const event = { type: 'Warning', reason: 'Tried', action: 'Try' } as const;
  for (let index = 0; index < 500; index++) recorder.record(repeated, { ...event, note: 'the same again' });
  for (let index = 0; index < 100; index++) recorder.record(noisy, { ...event, note: `number ${index}` });
  const about = async (name: string) => {
    const { items } = await context.client.listAll<RecordedEvent>(events, { namespace });
    return items.filter(({ regarding }) => regarding.name === name);
  };
  await context.check('of 100 different Events about one object, 25 are written', async () =>
    found(String((await about('noisy')).length), '25'),
  );
  await context.check('of 500 equal Events, 1 is written', async () =>
    found(String((await about('repeated')).length), '1'),
  );
  await checkRefused(bench, repeated);
  await context.check('after 30 s, one write turns the Event into a series with count 500', async () => {
    const [series] = await about('repeated');
    const patches = bench.writesOf(client).filter((write) => write.startsWith('patch'));
    return found([series?.series?.count ?? 'none', ...patches].join(), '500,patch 200');
  });
  await context.checkNow('the recorder logged no failures', () => found(JSON.stringify(log.lines), '[]'));
}

async function checkRefused(bench: Workbench, regarding: KubernetesObject): Promise<void> {
  const { context, proxy } = bench;
  const client = 'km-refused-events';
  const log = new NotedLog();
  const recorder = recorderOf(bench, client, log);
  const refused = await proxy.fault({ match: { client }, action: { kind: 'answer', status: 403 } });
  recorder.record(regarding, { type: 'Normal', reason: 'Refused', action: 'Try', note: 'not written' });
  await context.check('if the API server refuses an Event, the recorder only logs a line', () =>
    found(log.lines.map(({ message }) => message).join(), 'an event was not written'),
  );
  await refused.end();
}

/** How much faster the clock of the recorders runs: 30 s take 3 s. */
const speed = 10;
const fastClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * speed,
  after: (milliseconds, callback) => systemClock.after(milliseconds / speed, callback),
};

function recorderOf(bench: Workbench, client: string, logger: NotedLog): EventRecorder {
  const controller = 'sidecar-injector.io/e2e';
  return new EventRecorder({ client: bench.client(client), clock: fastClock, logger, controller, instance: client });
}
