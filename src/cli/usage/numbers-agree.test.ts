import assert from 'node:assert/strict';
import fc from 'fast-check';
import { customResourceDefinitions } from '../../api/crd.ts';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import { noPods, type PodCounts, type PodState, worstState } from '../../operator/usage/judge-pod.ts';
import type { CheckReport } from '../check/check-report.ts';
import type { RevisionReport } from '../commands/revisions.ts';
import type { StatusReport } from '../commands/status.ts';
import { fillCluster, leaderOf, type RandomCluster, randomClusters } from '../testdata/random-clusters.ts';
import { RevisionCluster } from '../testdata/revision-cluster.ts';
import type { TagReport } from './tag-report.ts';

const counts = ({ current, stale, missing }: PodCounts = noPods()): PodCounts => ({ current, stale, missing });
const sum = (all: readonly Readonly<PodCounts>[]): PodCounts =>
  all.reduce((total: PodCounts, { current, stale, missing }) => {
    return { current: total.current + current, stale: total.stale + stale, missing: total.missing + missing };
  }, noPods());
const add = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Asserts that numbers from several sources are equal. */
function agree(what: string, first: unknown, ...others: unknown[]): void {
  for (const other of others) assert.deepEqual(other, first, what);
}

/** Returns the numbers of pods that `kubectl get revisiontags` shows. */
function columnsOf(tag: object): unknown[] {
  type Version = { additionalPrinterColumns: { name: string; jsonPath: string }[] };
  const [, definition] = customResourceDefinitions() as unknown as { spec: { versions: Version[] } }[];
  const columns = definition?.spec.versions.flatMap((version) => version.additionalPrinterColumns) ?? [];
  const paths = columns
    .filter(({ name }) => /Pods|Stale/.test(name))
    .map(({ jsonPath }) => jsonPath.slice(1).split('.'));
  return paths.map((keys) => keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], tag));
}

describe('numbers-agree', () => {
  const cluster = new RevisionCluster();
  const { memory } = cluster;
  before(() => cluster.start());
  after(() => cluster.stop());

  async function read<T>(...argv: string[]): Promise<T> {
    const { out, errors } = await cluster.injector([...argv, '-o', 'json']);
    assert.ok(out !== '', errors);
    return JSON.parse(out) as T;
  }

  async function compare(state: RandomCluster): Promise<void> {
    fillCluster(cluster, state);
    const usage = await leaderOf(memory);
    const { pods: figures, namespaces: inNamespaces } = usage.figures() ?? { pods: [], namespaces: [] };
    const status = await read<StatusReport>('status');
    const { injectorConfigs, tags, namespaces, workloads, total, held } = status;
    const [revisions, list] = [await read<RevisionReport[]>('revisions'), await read<TagReport[]>('tag', 'list')];
    const alike = (
      what: string,
      row: PodCounts,
      of: 'injectorConfig' | 'tag',
      name: string,
      stated?: UsageStatus,
    ): void => {
      const report = of === 'tag' ? list.find(({ tag }) => tag === name) : revisions.find((each) => each.name === name);
      const metric = sum(figures.filter((each) => each[of] === name).map((each) => each.counts));
      agree(what, counts(row), metric, report?.pods, counts(stated?.injected));
      agree(`total of ${what}`, stated?.injected?.total, add(Object.values(metric)));
      agree(`namespaces of ${what}`, report?.namespaces, stated?.namespaces?.names);
      // The pods that Istio's injector takes count as injected, but do not need the object.
      if (!state.hasIstio) assert.ok((stated?.pods?.count ?? 0) >= (stated?.injected?.total ?? 0), `pods of ${what}`);
    };
    const there = injectorConfigs.filter(({ revision }) => revision !== undefined);
    for (const each of there) alike(each.name, each, 'injectorConfig', each.name, usage.injectorConfig(each.name));
    const deleted = injectorConfigs.filter((each) => !there.includes(each));
    agree(
      'deleted',
      sum(deleted),
      sum(figures.filter(({ injectorConfig: by }) => by === '').map((each) => each.counts)),
    );
    for (const each of tags) {
      const stated = usage.tag(each.name);
      alike(`tag ${each.name}`, each, 'tag', each.name, stated);
      agree(`columns of ${each.name}`, columnsOf({ status: stated }), [add(Object.values(counts(each))), each.stale]);
      for (const lacking of ['stale', 'missing'] as const) {
        const rows = workloads.filter((row) => row.tag === each.name && row[lacking] > 0);
        const listed = stated?.workloads?.[lacking].map(
          (row) => `${row.namespace} ${row.kind}/${row.name} ${row.pods}`,
        );
        agree(
          `${lacking} of ${each.name}`,
          rows.map((row) => `${row.namespace} ${row.workload} ${row[lacking]}`),
          listed,
        );
      }
    }
    const byName = inNamespaces.map((each) => [each.namespace, each.counts]).sort();
    agree(
      'namespaces',
      namespaces.map(({ name, ...row }) => [name, row]),
      byName,
    );
    const live = state.pods.filter(({ is }) => !['ending', 'finished', 'mirror'].includes(is));
    agree('held pods', add(held.map(({ pods }) => pods)), live.filter(({ is }) => is === 'held').length);
    const states: PodState[] = [];
    for (const stored of memory.list('pods')) {
      const { name = '', namespace = '' } = stored.metadata;
      const traits = usage.traitsOf(stored);
      const worst = worstState(traits === undefined ? [] : usage.judge(traits));
      if (worst !== undefined) states.push(worst);
      const [report] = traits === undefined ? [] : await read<CheckReport[]>('check', name, '-n', namespace);
      const { state: now = 'Unknown', injectedBy = [] } = report?.existing ?? {};
      // The family of a deleted InjectorConfig is unknown: its pods may count as those of another.
      const isKnown = injectedBy.every((entry) => there.some((each) => entry.startsWith(`${each.name}.`)));
      const isSame = worst === undefined || worst === 'current';
      if (now !== 'Unknown' && now !== 'Other' && isKnown)
        agree(`check ${name}: ${now}`, isSame, now === (worst ? 'Current' : 'Plain'));
    }
    const each = (word: keyof PodCounts): number => states.filter((one) => one === word).length;
    agree('total', total, sum(namespaces), {
      current: each('current'),
      stale: each('stale'),
      missing: each('missing'),
    });
    for (const { workload, stale, missing, causes, reasons } of workloads) {
      agree(workload, stale + missing, add(causes.map(({ pods }) => pods)), add(Object.values(reasons)));
      assert.ok(
        causes.every(({ reason }) => /^[A-Z][A-Za-z]+$/.test(reason)),
        workload,
      );
    }
    const messages = (await read<{ message: string }[]>('analyze')).map(({ message }) => message);
    const told = messages.flatMap((text) => /^(\d+) stale, (\d+) missing:/.exec(text)?.slice(1).map(Number) ?? []);
    agree('analyze', add(told), add(workloads.map(({ stale, missing }) => stale + missing)));
  }

  it('holds for clusters in any state', async () => {
    await fc.assert(fc.asyncProperty(randomClusters, compare), { numRuns: 25 });
  });
});
