import assert from 'node:assert/strict';
import fc from 'fast-check';
import { countPods, earliest, evidenceAt, judgementOf, nextFailure, worsening, type Judgement } from './health.ts';
import type { ObservedPod } from './observation.ts';
import { at, ref, readyPods, second, start, strategyOf, unreadyPods } from './testdata/situation.ts';

const { analysis } = strategyOf([{ weight: 5 }]);
const judgement = (seconds: number): Judgement => ({ analysis, since: start, now: at(seconds).getTime() });
const [pod] = readyPods(1) as [ObservedPod];

describe('countPods', () => {
  const cases: readonly (readonly [string, Partial<ObservedPod>, number, 'ready' | 'failing' | 'neither'])[] = [
    ['ready', {}, 0, 'ready'],
    ['ready after two restarts', { restarts: 2 }, 0, 'ready'],
    ['restarted three times since the rollout began', { restarts: 3 }, 0, 'failing'],
    ['older than the rollout, and restarted often', { restarts: 30, createdAt: start - 1000 }, 0, 'ready'],
    ['not ready yet', { ready: false }, 299, 'neither'],
    ['not ready in time', { ready: false }, 300, 'failing'],
    ['crashing', { ready: false, crashing: true }, 0, 'failing'],
    ['crashing in one container while another is ready', { crashing: true }, 0, 'failing'],
    ['ready for longer than the timeout', {}, 9999, 'ready'],
  ];
  for (const [title, fields, seconds, expected] of cases) {
    it(`counts a pod that is ${title} as ${expected}`, () => {
      const counts = { ready: 0, failing: 0, total: 1, ...(expected !== 'neither' && { [expected]: 1 }) };
      assert.deepEqual(countPods([{ ...pod, ...fields }], judgement(seconds)), counts);
    });
  }
});

describe('judgementOf', () => {
  it('includes pods that were created in the second in which the rollout began', () => {
    const startedAt = new Date(start + 700).toISOString();
    const { since } = judgementOf({ startedAt, canary: ref('1-25') }, strategyOf([{ weight: 5 }]), at(9));
    const young = { ...pod, restarts: 3, createdAt: start };
    const old = { ...young, createdAt: start - 1000 };
    assert.equal(countPods([young, old], { ...judgement(9), since }).failing, 1);
  });

  it('ignores restarts while there is no rollout', () => {
    for (const startedAt of [{}, { startedAt: new Date(start - 9000).toISOString() }]) {
      const rest = judgementOf(startedAt, strategyOf([{ weight: 5 }]), at(9));
      assert.equal(countPods([{ ...pod, restarts: 30 }], rest).failing, 0);
    }
  });
});

describe('worsening', () => {
  const counts = (failing: number, total: number) => ({ failing, total, ready: total - failing });
  const cases: readonly (readonly [string, [number, number], [number, number], boolean])[] = [
    ['a canary without pods', [0, 0], [0, 10], false],
    ['a canary without failing pods', [0, 10], [0, 10], false],
    ['exactly the bound', [1, 10], [0, 10], false],
    ['more than the bound', [2, 19], [0, 10], true],
    ['a failing canary pod without stable pods', [1, 1], [0, 0], true],
    ['one failing canary pod of ten without stable pods', [1, 10], [0, 0], false],
    ['a canary as bad as the stable revision', [50, 100], [50, 100], false],
    ['a canary that is worse within the bound', [60, 100], [50, 100], false],
    ['a canary that is worse beyond the bound', [61, 100], [50, 100], true],
    ['a canary better than the stable revision', [1, 100], [50, 100], false],
  ];
  for (const [title, canary, stable, isWorse] of cases) {
    it(`${isWorse ? 'reports' : 'does not report'} ${title}`, () => {
      const message = worsening(counts(...canary), counts(...stable), analysis);
      assert.equal(message !== undefined, isWorse, message);
    });
  }

  it('accepts as many failures as stable had when the rollout began, once few stable pods remain', () => {
    const before = counts(15, 100);
    const reports = (failing: number, stable = counts(0, 0)): boolean =>
      worsening(counts(failing, 100), stable, analysis, before) !== undefined;
    assert.deepEqual([reports(25), reports(26)], [false, true]);
    assert.deepEqual([reports(25, counts(0, 9)), reports(26, counts(2, 10))], [false, false]);
  });

  it('reports failures while enough stable pods remain', () => {
    const before = counts(40, 100);
    const reports = (stable: number): boolean =>
      worsening(counts(45, 100), counts(0, stable), analysis, before) !== undefined;
    assert.deepEqual([reports(100), reports(50), reports(49)], [true, true, false]);
  });

  it('names the counts and the bound', () => {
    assert.equal(
      worsening(counts(3, 4), counts(1, 9), analysis),
      '3 of 4 pods of the canary are failing, and 1 of 9 of the stable revision: more than 10 percent worse (spec.strategy.canary.analysis.maximumFailingPercent)',
    );
  });

  it('compares any counts exactly', () => {
    const count = fc
      .tuple(fc.nat(1000), fc.integer({ min: 1, max: 1000 }))
      .map(([failing, total]) => counts(Math.min(failing, total), total));
    fc.assert(
      fc.property(count, count, (canary, stable) => {
        const excess = (100 * canary.failing) / canary.total - (100 * stable.failing) / stable.total;
        fc.pre(Math.abs(excess - 10) > 1e-6);
        assert.equal(worsening(canary, stable, analysis) !== undefined, excess > 10);
      }),
    );
  });
});

describe('evidenceAt', () => {
  const seconds = (pods: readonly ObservedPod[], needed: number, stepSince: number): number | undefined => {
    const time = evidenceAt(pods, { needed, stepSince: at(stepSince).getTime() }, judgement(1000));
    return time === undefined ? undefined : (time - start) / second;
  };

  it('is the time when the last needed pod has been ready for long enough', () => {
    const pods = [...readyPods(1, 30), ...readyPods(1, 10), ...readyPods(1, 20)];
    assert.deepEqual([seconds(pods, 1, 0), seconds(pods, 2, 0), seconds(pods, 3, 0)], [70, 80, 90]);
  });

  it('counts from the start of the step for pods that were ready earlier', () => {
    assert.equal(seconds(readyPods(3), 3, 500), 560);
  });

  it('is unknown while too few pods are ready', () => {
    assert.equal(seconds(readyPods(2), 3, 0), undefined);
    assert.equal(seconds([...readyPods(2), ...unreadyPods(5, 999)], 3, 0), undefined);
  });

  it('does not count failing pods', () => {
    assert.equal(seconds([...readyPods(2), { ...pod, restarts: 3 }, { ...pod, crashing: true }], 3, 0), undefined);
  });
});

describe('nextFailure', () => {
  it('is the next time at which a pod becomes late', () => {
    const pods = [...unreadyPods(1, 0), ...unreadyPods(1, 100), ...unreadyPods(1, 50), ...readyPods(1, 20)];
    assert.equal(nextFailure(pods, judgement(300)), at(350).getTime());
    assert.equal(nextFailure(pods, judgement(400)), undefined);
    assert.equal(nextFailure(readyPods(2), judgement(0)), undefined);
  });
});

describe('earliest', () => {
  it('ignores undefined times', () => {
    assert.equal(earliest([undefined, 3, undefined, 2, 5]), 2);
    assert.equal(earliest([undefined]), undefined);
    assert.equal(earliest([]), undefined);
  });
});
