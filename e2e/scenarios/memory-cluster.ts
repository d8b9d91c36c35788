import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { firstDifference } from '../../scripts/conformance/conformance-case.ts';
import { Random } from '../../scripts/template-recorder/random.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isExpired } from '../../src/kube/api-error.ts';
import { revisionTags } from '../../src/operator/cluster-view.ts';
import { MemoryCluster } from '../../src/operator/testdata/memory-cluster.ts';
import { applyAll, readObjects } from '../harness/apply.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { type Operation, randomOperation, type Subject, subjects } from './memory-cluster/operations.ts';
import { comparableError, type Mistake, openSide, type Side } from './memory-cluster/side.ts';

const mistakes: Record<string, Mistake> = {
  'ignores field managers': { operation: (operation) => ({ ...operation, force: operation.verb === 'apply' }) },
  'accepts old resourceVersions': {
    operation: (operation) => ({ ...operation, version: operation.version === 'old' ? 'current' : operation.version }),
  },
  'raises the generation for labels': {
    generationOf: ({ generation = 0, labels = {} }) => generation + Object.keys(labels).length,
  },
  'sends no DELETED events': { isSent: (type) => type !== 'DELETED' },
};

export const memoryCluster: Scenario = {
  name: 'memory-cluster',
  about: 'the cluster in memory of the unit tests answers random requests as the API server does',
  destructive: 'it suspends the controllers',
  full: '3,000 random requests for each of 16 kinds, 10 minutes',
  run: async (context) => {
    const { client, seed, size } = context;
    const namespace = await context.namespace('objects');
    const definitions = readdirSync(paths.crds).flatMap((file) => readObjects(join(paths.crds, file)));
    await applyAll(client, definitions);
    // Controllers would write the status of workloads, and delete objects whose owner is missing.
    const controllers = context.requireControlPlane().component('kube-controller-manager');
    controllers.freeze();
    context.atEnd(() => controllers.unfreeze());
    const cluster = new MemoryCluster();
    await cluster.start();
    context.atEnd(() => cluster.stop());
    const count = size === 'full' ? 3000 : 60;
    const difference = async (both: [Subject, Subject], random: Random, mistake?: Mistake) => {
      const real = await openSide(client, both[0], namespace);
      const memory = await openSide(cluster.client, both[0], namespace, mistake);
      return firstOf(real, memory, both, random, count);
    };
    const all = await Promise.all(subjects.map((both, index) => difference(both, new Random(seed * 1000 + index))));
    for (const [index, [{ kind }]] of subjects.entries())
      await context.checkNow(`${kind}: the same requests have the same results`, () => found(all[index]!, ''));
    const webhooks = subjects.find(([{ kind }]) => kind === 'MutatingWebhookConfiguration')!;
    for (const [what, mistake] of Object.entries(mistakes)) {
      const noticed = await difference(webhooks, new Random(seed), mistake);
      context.say(`${what}: ${noticed.slice(0, 200)}`);
      await context.checkNow(`the comparison finds a cluster in memory that ${what}`, () => noticed !== '');
    }
    const raw: string[] = [];
    const codes = [...Array(0x100).keys(), 0x2028, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600, 0x10ffff];
    const written = codes.slice(0x20).map((code) => String.fromCodePoint(code));
    const escapes = ['d7ff', 'd83d', 'd83d\\ude00', 'dfff', 'e000'].map((code) => `\\u${code}`);
    for (const text of [...written, ...escapes].filter((each) => each !== '"' && each !== '\\')) {
      const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"text"},"data":{"a":"${text}"}}`;
      const options = { body, contentType: 'application/apply-patch+yaml', query: { fieldManager: 'e2e' } };
      const path = `/api/v1/namespaces/${namespace}/configmaps/text`;
      const send = (each: ApiClient) => each.request('PATCH', path, options).then(() => '', comparableError);
      const [expected, actual] = await Promise.all([send(client), send(cluster.client)]);
      const difference = firstDifference(actual, expected, '');
      if (difference !== undefined) raw.push(`${JSON.stringify(text)}: ${difference}`);
    }
    await context.checkNow('both refuse the same characters and escapes in the body of an apply', () => none(raw));
    cluster.compact();
    for (const [server, each] of Object.entries({
      'the API server': client,
      'the cluster in memory': cluster.client,
    })) {
      const first = each.watch(revisionTags, { resourceVersion: '1' }).next();
      const isRefused = await first.then(() => false, isExpired);
      await context.checkNow(`${server} refuses to watch from a version that is too old`, () => isRefused);
    }
    return `${subjects.length} kinds, ${count} requests each`;
  },
};

/** Sends random requests to both API servers. Returns the first difference, or an empty text. */
async function firstOf(real: Side, memory: Side, both: [Subject, Subject], random: Random, count: number) {
  const sides = [real, memory];
  const send = async (operation: Partial<Operation> & Pick<Operation, 'verb'>) => {
    const usual = { fields: {}, metadata: {}, version: 'none', uid: 'none', force: false, dryRun: false } as const;
    const sent = { fieldManager: 'a', ...usual, ...operation };
    const [expected, actual] = await Promise.all([real.perform(sent), memory.perform(sent)]);
    const difference = firstDifference(actual, expected, '');
    return difference === undefined ? '' : `${difference} after ${JSON.stringify(sent)}`;
  };
  const clear = async () => {
    await send({ verb: 'patch', metadata: { finalizers: [] } });
    await send({ verb: 'delete' });
  };
  try {
    for (let index = 0; index < count; index++) {
      const difference = await send(randomOperation(random, both, real.live()));
      if (difference !== '') return `request ${index}: ${difference}`;
    }
    await clear();
    // The last event of each watch shows that the earlier ones have arrived.
    await send({ verb: 'create', fields: both[0].whole, metadata: { labels: { a: '1', last: 'yes' } } });
    const isLast = (events: object[]) => JSON.stringify(events.at(-1) ?? '').includes('"last":"yes"');
    await waitFor('the last events', () => sides.every(({ events }) => events.every(isLast)));
    return firstDifference(memory.events, real.events, '/events') ?? '';
  } finally {
    await clear();
    for (const side of sides) side.stop();
  }
}
