import assert from 'node:assert/strict';
import { ManualClock } from '../kube/testdata/manual-clock.ts';
import { PodEventLimits } from './pod-event-limits.ts';

describe('PodEventLimits', () => {
  const taken = (limits: PodEventLimits, times: number, maker: (index: number) => string, reason = 'HostNetwork') =>
    Array.from({ length: times }, (_, index) => limits.take(maker(index), reason)).filter(Boolean).length;

  it('tells of three pods of one maker, for each reason, and again after ten minutes', async () => {
    const clock = new ManualClock();
    const limits = new PodEventLimits(clock);
    assert.equal(
      taken(limits, 100, () => 'r1'),
      3,
    );
    assert.equal(
      taken(limits, 100, () => 'r1', 'PolicyDisabled'),
      3,
    );
    assert.equal(
      taken(limits, 100, () => 'r2'),
      3,
    );
    await clock.advance(600_000);
    assert.equal(
      taken(limits, 100, () => 'r1'),
      3,
    );
  });

  it('tells of 25 at once and then one a second, whoever made them', async () => {
    const clock = new ManualClock();
    const limits = new PodEventLimits(clock);
    assert.equal(
      taken(limits, 100, (index) => `a${index}`),
      25,
    );
    await clock.advance(10_000);
    assert.equal(
      taken(limits, 100, (index) => `b${index}`),
      10,
    );
  });
});
