import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ListOptions } from '../../../src/kube/api-client.ts';
import { resourceKind, type ResourceKind } from '../../../src/kube/resource-kinds.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { Followed } from './followed.ts';
import { configMap, type Workbench } from './workbench.ts';

/** A random source that selects the shortest watch timeout, 30 s. */
const shortest = (): number => 0;
/** The timeout of watches here, in seconds. The API server sends a bookmark 2 s before. */
const watchTimeout = 8;

/** Checks that a watch times out and resumes at the last bookmark, without a new list. */
export async function checkTimeouts(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const followed = Followed.configMaps(bench, 'quiet', { random: shortest, watchTimeout });
  await followed.following();
  // Write another object, so that only bookmarks advance the resourceVersion of the watch.
  await context.client.create(configMap(namespace, 'elsewhere', { labels: { e2e: 'elsewhere' } }));
  // A stalled API server may end a watch before it sends a bookmark. If so, check the next watch.
  const { ends, reads } = followed;
  const resumedAt = () => {
    const resumed = reads.watches.findIndex(({ bookmark }) => bookmark !== undefined);
    return resumed >= 1 && reads.opened > resumed && resumed;
  };
  const position = await waitFor('a watch to resume at a bookmark', resumedAt, { timeout: 150_000 });
  const [before, resumed] = [reads.watches[position - 1], reads.watches[position]];
  const end = ends[position - 1];
  const [began, ended] = [before?.at ?? 0, end?.at ?? 0];
  const lasted = (ended - began) / 1000;
  const still = (await bench.standstill.between(began, ended)) / 1000;
  await context.checkNow(
    `a watch without events times out after ${lasted.toFixed(1)} s and resumes at its last bookmark without a list`,
    () => {
      found(end?.reason ?? '', 'Timeout');
      found(String(reads.lists.length), '1');
      found(String(reads.timeouts[0]), '30');
      found(resumed?.resourceVersion ?? '', resumed?.bookmark ?? 'no bookmark');
      return resumed?.resourceVersion !== before?.resourceVersion && Math.abs(lasted - watchTimeout) < 3 + still;
    },
  );
  await context.client.create(configMap(namespace, 'quiet-1', { labels: { e2e: 'quiet' } }));
  await context.check('the resumed watch receives a new object', () => followed.names().join() === 'quiet-1');
  await followed.stop();
}

/** A resource without a watch cache in the API server, so that compactions expire its watches. */
const events = resourceKind('v1', 'Event');
const watchers = 10;

/** Checks that watches whose resourceVersion was compacted (410) list again at different times. */
export async function checkExpired(bench: Workbench): Promise<void> {
  const { context, proxy } = bench;
  const namespace = await context.namespace('expired');
  for (let index = 0; index < 30; index++) await context.client.create(event(namespace, `event-${index}`));
  const options = { resource: events, namespace, random: () => bench.random.next() };
  const clients = Array.from({ length: watchers }, (_, index) => bench.client(`km-expired-${index}`));
  const all = clients.map((client) => new Followed(client, options));
  await Promise.all(all.map((each) => each.following()));
  const cut = await proxy.fault({ match: { client: 'km-expired-', verbs: ['watch'] }, action: { kind: 'cut' } });
  await context.client.delete(event(namespace, 'event-0'));
  await compact(bench, namespace);
  await cut.end();
  await context.check(`each of ${watchers} reflectors lists once more after its watch expired (410)`, () =>
    all.every(
      (each) => each.endedBy('Expired').length === 1 && each.reads.lists.length === 2 && each.store.size === 32,
    ),
  );
  const begun = all.map((each) => each.endedBy('Expired')[0]?.at ?? 0);
  const waits = all.map((each, index) => (each.reads.lists[1]?.at ?? 0) - (begun[index] ?? 0));
  const [least, most] = [Math.min(...waits), Math.max(...waits)];
  const still = await bench.standstill.between(Math.min(...begun), Math.max(...begun) + most);
  // Compare the requested waits, because a slow machine distorts the actual waits.
  const requested = all.map((each, index) => each.waits.find(({ at }) => at >= (begun[index] ?? 0))?.milliseconds ?? 0);
  const apart = Math.max(...requested) - Math.min(...requested);
  await context.checkNow(
    `the reflectors list at different times, ${least} to ${most} ms after the 410`,
    () => most <= 1300 + still && Math.max(...requested) <= 1000 && apart >= 200,
  );
  await Promise.all(all.map((each) => each.stop()));
  await checkExpiredList(bench, namespace);
}

/** Checks that an expired list restarts, and that the store syncs only after a complete list. */
async function checkExpiredList(bench: Workbench, namespace: string): Promise<void> {
  const { context } = bench;
  const client = bench.client('km-late-page');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const late = {
    list: async <T>(resource: ResourceKind, options: ListOptions = {}) => {
      if (options.continue !== undefined) await released;
      return client.list<T>(resource, options);
    },
    watch: client.watch.bind(client),
  };
  const options = { resource: events, namespace, random: () => bench.random.next(), pageSize: 20 };
  const followed = new Followed(late, options);
  await waitFor('the first page', () => followed.store.size > 0);
  await compact(bench, namespace);
  const known = followed.store.hasSynced;
  release();
  await context.check('a list whose next page has expired (410) starts again and completes', () => {
    const { lists } = followed.reads;
    found(lists.map((list) => (list.continue === undefined ? 'first' : 'next')).join(), 'first,next,first,next');
    return found([known, followed.store.hasSynced, followed.store.size].join(), 'false,true,35');
  });
  await followed.stop();
}

/** Adds three Events, and compacts etcd up to the last Event. */
async function compact({ context, plane }: Workbench, namespace: string): Promise<void> {
  let revision = 0;
  for (let index = 0; index < 3; index++) {
    const { metadata } = await context.client.create(event(namespace, `later-${Date.now()}-${index}`));
    revision = Number(metadata.resourceVersion);
  }
  await plane.compact(revision);
}

function event(namespace: string, name: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace },
    reason: 'Tried',
    message: 'an event to be listed',
    type: 'Normal',
  };
}
