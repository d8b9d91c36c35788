import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ReplacementPace } from './replacement-pace.ts';

const owner = (uid: string, namespace = 'shop') => ({ uid, namespace });

/** Replaces as many pods as allowed; returns their number. */
function replaceAll(pace: ReplacementPace, now: number, of = owner('web')): number {
  let count = 0;
  for (; pace.allows(of, now); count += 1) pace.begin(of, now);
  return count;
}

describe('ReplacementPace', () => {
  it('tries one pod, and doubles with each round of successes up to a bound per namespace and in all', () => {
    const pace = new ReplacementPace();
    const rounds: number[] = [];
    for (let now = 0; now < 10; now += 1) {
      const count = replaceAll(pace, now);
      rounds.push(count);
      for (let each = 0; each < count; each += 1) pace.created('web', false, now);
    }
    assert.deepEqual(rounds, [1, 2, 4, 8, 16, 32, 50, 50, 50, 50]);
    const elsewhere = ['other', 'third', 'fourth'].map((namespace) =>
      replaceAll(pace, 10, owner(`web-${namespace}`, namespace)),
    );
    assert.deepEqual(elsewhere, [50, 50, 0]);
  });

  it('pauses longer after each failure in a row, up to five seconds, and goes on at once after a success', () => {
    const pace = new ReplacementPace();
    const pauses: number[] = [];
    let now = 0;
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const of = owner(`web-${attempt}`);
      pace.begin(of, now);
      pace.created(of.uid, true, now);
      const since = now;
      while (!pace.allows(owner('next'), now)) now += 100;
      pauses.push(now - since);
    }
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 5000, 5000]);
    pace.begin(owner('next'), now);
    pace.created('next', false, now);
    assert.equal(pace.allows(owner('web-0'), now), true, 'the failures were those of the webhook');
  });

  it('tries a workload whose pods are always held again rarely, while others go on', () => {
    const pace = new ReplacementPace();
    let [attempts, replaced] = [0, 0];
    for (let now = 0; now < 120_000; now += 100) {
      if (pace.allows(owner('broken'), now)) {
        pace.begin(owner('broken'), now);
        pace.created('broken', true, now);
        attempts += 1;
      }
      if (pace.allows(owner('web'), now)) {
        pace.begin(owner('web'), now);
        pace.created('web', false, now);
        replaced += 1;
      }
    }
    assert.ok(attempts > 3 && attempts < 30, `${attempts} attempts`);
    assert.ok(replaced > 1000, `${replaced} replaced`);
  });

  it('ignores pods that replace no pod, and forgets replacements without a new pod', () => {
    const pace = new ReplacementPace();
    pace.created('web', true, 0);
    assert.equal(replaceAll(pace, 0), 1);
    pace.expire(15_000);
    assert.equal(replaceAll(pace, 15_000), 0, 'the new pod may still come');
    pace.expire(15_001);
    assert.equal(replaceAll(pace, 15_001), 0, 'the workload created no pod, so it is tried later');
    assert.equal(pace.failuresOf('web'), 1);
    assert.equal(replaceAll(pace, 15_001, owner('other')), 1, 'other workloads go on');
    pace.created('other', false, 15_002);
    assert.equal(replaceAll(pace, 17_001), 1);
  });

  it('forgets the failures of workloads that have no held pod any more', () => {
    const pace = new ReplacementPace();
    pace.begin(owner('web'), 0);
    pace.created('web', true, 0);
    assert.equal(pace.allows(owner('web'), 1500), false);
    pace.keepOnly(new Set());
    assert.equal(pace.allows(owner('web'), 1500), true);
  });

  it('never exceeds its bounds, and always tries again, whatever happens', () => {
    const event = fc.record({
      uid: fc.constantFrom('a', 'b', 'c'),
      what: fc.constantFrom('begin', 'held', 'injected', 'wait'),
      ms: fc.nat(20_000),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const pace = new ReplacementPace();
        let now = 0;
        for (const { uid, what, ms } of events) {
          if (what === 'wait') now += ms;
          else if (what !== 'begin') pace.created(uid, what === 'held', now);
          else if (pace.allows(owner(uid), now)) pace.begin(owner(uid), now);
          pace.expire(now);
        }
        now += 30_000;
        pace.expire(now);
        const count = replaceAll(pace, now, owner('new'));
        assert.ok(count >= 1 && count <= 50, `${count}`);
      }),
    );
  });
});
