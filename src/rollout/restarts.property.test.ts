import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { OtherRestart, RestartCandidate, RestartSituation } from './restart-candidate.ts';
import { atOnce } from '../steps/steps.ts';
import { planRestarts } from './restarts.ts';
import { workloadKey } from '../routing/workload-key.ts';
import { boundsOf, second, start } from './testdata/situation.ts';

const budgetNames = ['small', 'large'] as const;
const allowed = { small: 1, large: 2 } as const;

/** A simulated workload. */
interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** How long its controller needs for a restart, in seconds. */
  readonly takes: number;
  readonly budgets: readonly (typeof budgetNames)[number][];
  /** The configuration of its pods, by tag. */
  readonly pods: Map<string, string>;
  restarts: { tag: string; target: string; at: number }[];
  completeSince: number | undefined;
}

const history = fc.record({
  workloads: fc.array(
    fc.record({
      namespace: fc.constantFrom('a', 'b', 'c'),
      takes: fc.integer({ min: 1, max: 60 }),
      tags: fc.uniqueArray(fc.constantFrom('prod', 'logs', 'test'), { minLength: 1, maxLength: 2 }),
      budgets: fc.uniqueArray(fc.constantFrom(...budgetNames)),
    }),
    { minLength: 1, maxLength: 30 },
  ),
  maxUnavailableWorkloads: fc.integer({ min: 1, max: 6 }),
  perNamespace: fc.integer({ min: 1, max: 4 }),
  /** How many of the writes of a pass are lost because the leader is killed. */
  killed: fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
  /** When the targets of the tags change, in seconds. */
  moves: fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 3 }),
  /** How old the statuses of the budgets are, in seconds. */
  lag: fc.integer({ min: 0, max: 5 }),
});

function isBusy({ restarts: [latest], completeSince }: Workload, now: number): boolean {
  return latest !== undefined && (completeSince ?? Infinity) + 10 * second > now;
}

function situationOf(
  tag: string,
  target: string,
  all: readonly Workload[],
  left: Record<string, number>,
): RestartSituation {
  const own: RestartCandidate[] = [];
  const others: OtherRestart[] = [];
  for (const { namespace, name, tags, pods, restarts, completeSince, budgets: covering } of all) {
    const budgets = covering.map((budget) => ({
      name: budget,
      disruptionsAllowed: left[`${namespace}/${budget}`] ?? allowed[budget],
    }));
    const workload = {
      key: workloadKey({ namespace, kind: 'Deployment', name }),
      namespace,
      kind: 'Deployment',
      name,
      budgets,
      ...(completeSince !== undefined && { completeSince }),
    };
    const [latest] = restarts;
    if (latest !== undefined && latest.tag !== tag) others.push({ ...workload, tag: latest.tag, at: latest.at });
    const restarted = restarts.find((each) => each.tag === tag);
    const stale = tags.includes(tag) && pods.get(tag) !== target ? 1 : 0;
    if (stale === 1 || restarted !== undefined) {
      own.push({ ...workload, stale, target, paused: false, ...(restarted && { restarted }) });
    }
  }
  return { own, others };
}

describe('restarts, from start to end,', () => {
  it('respect bounds and budgets over all tags, restart a workload once per target, and leave no stale pods', () => {
    fc.assert(
      fc.property(history, ({ workloads, killed, moves, lag, ...limits }) => {
        const bounds = boundsOf(limits);
        const end = start + 4000 * second;
        const all = workloads.map((each, index): Workload => {
          const pods = new Map(each.tags.map((tag) => [tag, 'v0.00000000']));
          return { ...each, name: `w${index}`, pods, restarts: [], completeSince: start - 3600 * second };
        });
        const written = new Set<string>();
        const statuses: Record<string, number>[] = [];
        const targetAt = (now: number): string =>
          `v${1 + moves.filter((move) => start + move * second <= now).length}.00000000`;
        for (let now = start; now < end; now += second) {
          const target = targetAt(now);
          const down: Record<string, number> = {};
          for (const each of all.filter(({ completeSince }) => completeSince === undefined)) {
            for (const budget of each.budgets) {
              const key = `${each.namespace}/${budget}`;
              down[key] = (down[key] ?? 0) + 1;
              assert.ok(down[key] <= allowed[budget], `budget ${key}`);
            }
          }
          statuses.push(
            Object.fromEntries(
              Object.entries(down).map(([key, count]) => [key, allowed[key.split('/')[1] as 'small'] - count]),
            ),
          );
          for (const tag of ['logs', 'prod', 'test']) {
            const seen = statuses[Math.max(0, statuses.length - 1 - lag)] ?? {};
            const { restart } = atOnce(planRestarts(situationOf(tag, target, all, seen), bounds, now));
            // A killed leader has written only the first restarts.
            for (const { name } of restart.slice(0, Math.max(0, restart.length - (killed.next().value ?? 0)))) {
              const found = all.find((each) => each.name === name);
              assert.ok(found !== undefined);
              const restartOnce = `${name} ${tag} ${target}`;
              assert.ok(!written.has(restartOnce), `${restartOnce} twice`);
              written.add(restartOnce);
              found.restarts = [{ tag, target, at: now }, ...found.restarts.filter((each) => each.tag !== tag)];
              found.completeSince = undefined;
            }
          }
          const busy = all.filter((each) => isBusy(each, now));
          assert.ok(busy.length <= bounds.maxUnavailableWorkloads, 'the bound of the cluster');
          for (const namespace of ['a', 'b', 'c']) {
            const here = busy.filter((each) => each.namespace === namespace);
            assert.ok(here.length <= bounds.perNamespace, 'the bound of a namespace');
          }
          for (const each of all) {
            const [latest] = each.restarts;
            if (each.completeSince !== undefined || latest === undefined) continue;
            if (now + second < latest.at + each.takes * second) continue;
            each.completeSince = now + second;
            // New pods get the current targets of all their tags, whatever the restart was for.
            for (const tag of each.tags) each.pods.set(tag, targetAt(latest.at));
          }
          if (now > start + 300 * second && busy.length === 0) {
            const left = all.filter(({ pods }) => [...pods.values()].some((got) => got !== target));
            if (left.length === 0) return;
          }
        }
        assert.fail(`stale to the end: ${JSON.stringify(all.map(({ name, pods }) => [name, [...pods]]))}`);
      }),
      { numRuns: 100 },
    );
  });
});
