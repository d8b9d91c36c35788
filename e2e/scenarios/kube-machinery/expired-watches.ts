import type { KubernetesObject } from '../../../src/api/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { found } from '../../harness/found.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { Followed } from './followed.ts';
import type { Workbench } from './workbench.ts';

/** The API server keeps no watch cache of Events: what etcd has forgotten is gone for their watches too. */
const events = resourceKind('v1', 'Event');
const watchers = 10;

/** What a watch would be resumed from is compacted away (410): listed again, each watcher at its own time. */
export async function checkExpired(bench: Workbench): Promise<void> {
  const { context, proxy } = bench;
  const namespace = await context.namespace('expired');
  for (let index = 0; index < 30; index++) await context.client.create(event(namespace, `event-${index}`));
  const all = Array.from(
    { length: watchers },
    (_, index) =>
      new Followed(bench.client(`km-expired-${index}`), {
        resource: events,
        namespace,
        random: () => bench.random.next(),
      }),
  );
  await Promise.all(all.map((each) => each.following()));
  const cut = await proxy.fault({ match: { client: 'km-expired-', verbs: ['watch'] }, action: { kind: 'cut' } });
  await context.client.delete(event(namespace, 'event-0'));
  await compact(bench, namespace);
  await cut.end();
  await context.check(`${watchers} watches are behind what etcd remembers (410): each is listed again once`, () =>
    all.every(
      (each) => each.endedBy('Expired').length === 1 && each.reads.lists.length === 2 && each.store.size === 32,
    ),
  );
  const waits = all.map((each) => (each.reads.lists[1]?.at ?? 0) - (each.endedBy('Expired')[0]?.at ?? 0));
  const [least, most] = [Math.min(...waits), Math.max(...waits)];
  await context.check(
    `they did not come at once: ${least} to ${most} ms after the 410`,
    () => most <= 1300 && most - least >= 200,
    { timeout: 0 },
  );
  await Promise.all(all.map((each) => each.stop()));
  bench.compare('reflector', 'listed again after 410', `within 1 s at random (${least} to ${most} ms)`, '0.8 to 1.6 s');
  await checkExpiredList(bench, namespace);
}

/** A list whose second page comes too late begins anew, and the store does not count as known before one list was whole. */
async function checkExpiredList(bench: Workbench, namespace: string): Promise<void> {
  const { context } = bench;
  const followed = new Followed(bench.client('km-late-page'), {
    resource: events,
    namespace,
    random: () => bench.random.next(),
    pageSize: 20,
    pagePauseMs: 1000,
  });
  await waitFor('the first page', () => followed.store.size > 0);
  await compact(bench, namespace);
  const known = followed.store.hasSynced;
  await context.check('a list whose next page etcd has forgotten (410) begins anew, and is whole then', () => {
    const { lists } = followed.reads;
    found(lists.map((list) => (list.continue === undefined ? 'first' : 'next')).join(), 'first,next,first,next');
    return found([known, followed.store.hasSynced, followed.store.size].join(), 'false,true,35');
  });
  await followed.stop();
}

/** Adds three Events, and makes etcd forget everything before the last of them. */
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
