import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { Followed } from './followed.ts';
import { configMap, type Workbench } from './workbench.ts';

const configMaps = resourceKind('v1', 'ConfigMap');
/** Makes watches as short as they come. */
const shortest = (): number => 0;

/** A list in pages is one whole, and the store says that it is known only when the last page was read. */
export async function checkPagedList(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const count = 250;
  const labels = { e2e: 'paged' };
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      context.client.create(configMap(namespace, `paged-${index}`, { labels })),
    ),
  );
  const followed = new Followed(bench.client('km-paged'), {
    resource: configMaps,
    namespace,
    labelSelector: 'e2e=paged',
    random: shortest,
    pagePauseMs: 100,
  });
  let early = 0;
  const sampling = (async () => {
    while (!followed.store.hasSynced) {
      early = Math.max(early, followed.store.size);
      await sleep(10);
    }
  })();
  await followed.following();
  await sampling;
  const { lists } = followed.reads;
  await context.checkNow(
    `${count} objects are listed in ${lists.length} pages; the store has synced with the last one, at ${followed.store.size}`,
    () => {
      found(lists.map(({ limit }) => limit).join(), '100,100,100');
      return followed.store.size === count && early < count;
    },
  );
  const before = followed.changes;
  await context.client.delete(configMap(namespace, 'paged-0'));
  await context.client.create(configMap(namespace, 'paged-new', { labels }));
  await context.check('a watch goes on where the list ended: what is created and deleted is told once each', () => {
    const told = followed.changes - before;
    return told === 2 && followed.store.get('paged-0', namespace) === undefined;
  });
  await followed.stop();
  bench.compare('reflector', 'objects a page', '100', '500');
}

/** A watch ends on time, and the next one begins at the last bookmark: nothing is listed again, however quiet the collection was. */
export async function checkTimeouts(bench: Workbench): Promise<void> {
  const { context, namespace } = bench;
  const followed = new Followed(bench.client('km-quiet'), {
    resource: configMaps,
    namespace,
    labelSelector: 'e2e=quiet',
    random: shortest,
  });
  await followed.following();
  // Others write meanwhile; of that only bookmarks tell.
  await context.client.create(configMap(namespace, 'elsewhere', { labels: { e2e: 'elsewhere' } }));
  // An API server that stands still when a watch ends may send no bookmark before; then the next one counts.
  const { ends, reads } = followed;
  const position = await waitFor(
    'a watch to be resumed at a bookmark',
    () => {
      const resumed = reads.watches.findIndex(({ bookmark }) => bookmark !== undefined);
      return resumed >= 1 && reads.opened > resumed && resumed;
    },
    { timeout: 150_000 },
  );
  const [before, resumed] = [reads.watches[position - 1], reads.watches[position]];
  const end = ends[position - 1];
  const [began, ended] = [before?.at ?? 0, end?.at ?? 0];
  const lasted = (ended - began) / 1000;
  const still = (await bench.standstill.between(began, ended)) / 1000;
  await context.checkNow(
    `a quiet watch ends by itself after ${lasted.toFixed(1)} s, and is resumed at its last bookmark without a list`,
    () => {
      found(end?.reason ?? '', 'Timeout');
      found(String(reads.lists.length), '1');
      found(resumed?.resourceVersion ?? '', resumed?.bookmark ?? 'no bookmark');
      return resumed?.resourceVersion !== before?.resourceVersion && lasted > 27 && lasted < 33 + still;
    },
  );
  await context.client.create(configMap(namespace, 'quiet-1', { labels: { e2e: 'quiet' } }));
  await context.check('what happens then is seen', () => followed.names().join() === 'quiet-1');
  await followed.stop();
  bench.compare('reflector', 'a watch lives for', '30 to 45 s', '5 to 10 min');
}

/** A watch that breaks is resumed at the last resourceVersion: what happened meanwhile is seen, and nothing is listed again. */
export async function checkBrokenWatch(bench: Workbench): Promise<void> {
  const { context, namespace, proxy } = bench;
  const labels = { e2e: 'broken' };
  for (const name of ['kept', 'changed', 'deleted']) {
    await context.client.create(configMap(namespace, `broken-${name}`, { labels }));
  }
  const followed = new Followed(bench.client('km-broken'), {
    resource: configMaps,
    namespace,
    labelSelector: 'e2e=broken',
    random: () => bench.random.next(),
  });
  await followed.following();
  const cut = await proxy.fault({ match: { client: 'km-broken', verbs: ['watch'] }, action: { kind: 'cut' } });
  await context.client.patch(configMap(namespace, 'broken-changed'), 'merge', { data: { now: 'other' } });
  await context.client.delete(configMap(namespace, 'broken-deleted'));
  await context.client.create(configMap(namespace, 'broken-new', { labels }));
  await sleep(1000);
  await context.checkNow('a watch is cut: the store keeps what it had', () => followed.store.size === 3);
  const met = await cut.end();
  const since = Date.now();
  await context.check(`the way is free again after ${met} cuts: the store is as the collection, without a list`, () => {
    const changed = followed.store.get('broken-changed', namespace)?.['data'] as { now?: string } | undefined;
    found(followed.names().join(), 'broken-changed,broken-kept,broken-new');
    return changed?.now === 'other' && followed.reads.lists.length === 1;
  });
  const took = Date.now() - since;
  const still = await bench.standstill.between(since, since + took);
  await context.checkNow(`that took ${took} ms`, () => took <= 2500 + still);
  await followed.stop();
}

/** Half-open: the connection stays and nothing comes. It is noticed when the watch should have ended, and goes on without a list. */
export async function checkHungWatch(bench: Workbench): Promise<void> {
  const { context, namespace, proxy } = bench;
  const followed = new Followed(bench.client('km-hung'), {
    resource: configMaps,
    namespace,
    labelSelector: 'e2e=hung',
    random: shortest,
  });
  await followed.following();
  const hang = await proxy.fault({ match: { client: 'km-hung', verbs: ['watch'] }, action: { kind: 'hang' } });
  await hang.end();
  const since = Date.now();
  await context.client.create(configMap(namespace, 'hung-1', { labels: { e2e: 'hung' } }));
  await sleep(2000);
  await context.checkNow('a half-open watch says nothing of what happens', () => followed.store.size === 0);
  await waitFor('the hung watch to be noticed', () => followed.names().join() === 'hung-1', { timeout: 120_000 });
  const noticed = (Date.now() - since) / 1000;
  const still = (await bench.standstill.between(since, Date.now())) / 1000;
  await context.checkNow(
    `it is noticed after ${noticed.toFixed(1)} s (45 + 10 s at the latest), and resumed without a list`,
    () => followed.endedBy('Hung').length === 1 && followed.reads.lists.length === 1 && noticed <= 60 + still,
  );
  await followed.stop();
  bench.compare('reflector', 'half-open noticed after', `${noticed.toFixed(1)} s, at most 55 s`, '45 s (HTTP/2 ping)');
}
