import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FairShares } from '../rollout/fair-shares.ts';
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
      for (let each = 0; each < count; each += 1) pace.created(owner('web'), false, now);
    }
    assert.deepEqual(rounds, [1, 2, 4, 8, 16, 32, 50, 50, 50, 50]);
    const others = ['other', 'third', 'fourth'].map((namespace) => owner(`web-${namespace}`, namespace));
    for (const each of others) {
      for (let success = 0; success < 60; success += 1) {
        pace.begin(each, 10);
        pace.created(each, false, 10);
      }
    }
    assert.deepEqual(
      others.map((each) => replaceAll(pace, 10, each)),
      [50, 33, 17],
    );
  });

  it('lets pods recover in twice the time while four namespaces wait for refused pods', () => {
    /** The victim's 20 pods are held when the neighbours' good pods have been replaced. */
    const heldAt = 4000;
    const recoveryMs = (neighbours: readonly string[]): number => {
      const [pace, shares] = [new ReplacementPace(), new FairShares()];
      const ownersOf = (name: string) => [
        ...Array.from({ length: 150 }, () => owner('good', name)),
        ...Array.from({ length: 1000 }, (_, index) => owner(`refused-${index}`, name)),
      ];
      const waiting = neighbours.flatMap(ownersOf);
      let created: ReturnType<typeof owner>[] = [];
      for (let now = 0; ; now += 250) {
        if (now === heldAt) waiting.push(...Array.from({ length: 20 }, () => owner('web', 'victim')));
        for (const each of created) pace.created(each, false, now);
        if (now > heldAt && !waiting.some(({ namespace }) => namespace === 'victim')) return now - heldAt;
        created = [];
        pace.expire(now);
        let writes = 0;
        for (const each of shares.inTurns(waiting, ({ namespace }) => namespace)) {
          if (writes >= 50 || !pace.allows(each, now)) continue;
          writes += 1;
          pace.begin(each, now);
          shares.serve(each.namespace);
          if (!each.uid.startsWith('refused')) created.push(each);
          waiting.splice(waiting.indexOf(each), 1);
        }
      }
    };
    const [alone, beside] = [recoveryMs([]), recoveryMs(['one', 'two', 'three', 'four'])];
    assert.ok(beside <= 2 * alone, `${beside} ms beside, ${alone} ms alone`);
  });

  it('pauses longer after each failure in a row, up to five seconds, and goes on at once after a success', () => {
    const pace = new ReplacementPace();
    const pauses: number[] = [];
    let now = 0;
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const of = owner(`web-${attempt}`);
      pace.begin(of, now);
      pace.created(of, true, now);
      const since = now;
      while (!pace.allows(owner('next'), now)) now += 100;
      pauses.push(now - since);
    }
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 5000, 5000]);
    assert.equal(pace.allows(owner('web-0', 'other'), now - 1), true, 'no namespace waits for a pause of another');
    pace.begin(owner('next'), now);
    pace.created(owner('next'), false, now);
    assert.equal(pace.allows(owner('other'), now), true);
    assert.equal(pace.failuresOf(owner('web-0')), 1, 'a success clears only the failures of its own workload');
  });

  it('tries namespaces one after the other until a new pod is injected, and then each at its own pace', () => {
    const pace = new ReplacementPace();
    const [one, other] = [owner('web', 'one'), owner('web', 'other')];
    pace.begin(one, 0);
    assert.equal(pace.allows(other, 249), false);
    assert.equal(pace.allows(other, 250), true, 'a new pod that does not come blocks only its own namespace');
    pace.begin(other, 250);
    pace.created(other, false, 300);
    assert.deepEqual([replaceAll(pace, 300, other), replaceAll(pace, 300, one)], [2, 0]);
    pace.created(one, true, 300);
    assert.equal(replaceAll(pace, 301, other), 0, 'both are in flight');
    pace.created(other, false, 301);
    assert.equal(replaceAll(pace, 301, other), 2, 'a failure elsewhere neither pauses nor halves');
    assert.equal(pace.allows(owner('next', 'one'), 799), false, 'the namespace of the failure pauses');
    assert.equal(pace.allows(owner('next', 'one'), 800), true);
  });

  it('ends all pauses when the webhook works again', () => {
    const pace = new ReplacementPace();
    const held = ['one', 'other', 'third'].map((namespace) => owner('web', namespace));
    const now = 60_000;
    for (const at of [now - 3000, now - 2000, now - 1000]) {
      for (const each of held) {
        pace.begin(each, at);
        pace.created(each, true, at);
      }
    }
    assert.equal(pace.allows(held[1]!, now), false);
    pace.begin(held[0]!, now);
    pace.created(held[0]!, false, now);
    assert.deepEqual(
      held.map((each) => pace.allows(each, now)),
      [true, true, true],
    );
  });

  it('does not let a pod that names the workload of another namespace count', () => {
    const pace = new ReplacementPace();
    pace.begin(owner('web'), 0);
    assert.equal(pace.created(owner('web', 'evil'), false, 0), false);
    assert.equal(pace.created(owner('web', 'evil'), true, 0), false);
    assert.deepEqual([pace.failuresOf(owner('web')), replaceAll(pace, 300)], [0, 0]);
    pace.expire(5001);
    assert.equal(pace.failuresOf(owner('web')), 1);
    pace.created(owner('web', 'evil'), false, 5001);
    assert.equal(pace.failuresOf(owner('web')), 1);
    pace.created(owner('web'), false, 5001);
    assert.equal(pace.failuresOf(owner('web')), 0, 'a late new pod is a success');
  });

  it('tries a workload whose pods are always held again rarely, while others go on', () => {
    const pace = new ReplacementPace();
    let [attempts, replaced] = [0, 0];
    for (let now = 0; now < 120_000; now += 100) {
      if (pace.allows(owner('broken'), now)) {
        pace.begin(owner('broken'), now);
        pace.created(owner('broken'), true, now);
        attempts += 1;
      }
      if (pace.allows(owner('web'), now)) {
        pace.begin(owner('web'), now);
        pace.created(owner('web'), false, now);
        replaced += 1;
      }
    }
    assert.ok(attempts > 3 && attempts < 30, `${attempts} attempts`);
    assert.ok(replaced > 1000, `${replaced} replaced`);
  });

  it('ignores pods that replace no pod, and forgets replacements without a new pod', () => {
    const pace = new ReplacementPace();
    pace.created(owner('web'), true, 0);
    assert.equal(replaceAll(pace, 0), 1);
    pace.expire(5000);
    assert.equal(replaceAll(pace, 5000), 0, 'the new pod may still come');
    pace.expire(5001);
    assert.equal(replaceAll(pace, 5001), 0, 'the workload created no pod, so it is tried later');
    assert.equal(pace.failuresOf(owner('web')), 1);
    assert.equal(replaceAll(pace, 5001, owner('other')), 1, 'other workloads go on');
    pace.created(owner('other'), false, 5002);
    assert.equal(replaceAll(pace, 7001), 1);
  });

  it('forgets the failures of workloads that have no held pod any more', () => {
    const pace = new ReplacementPace();
    pace.begin(owner('web'), 0);
    pace.created(owner('web'), true, 0);
    pace.keepOnly([owner('web')]);
    assert.equal(pace.allows(owner('web'), 1500), false);
    pace.keepOnly([]);
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
          else if (what !== 'begin') pace.created(owner(uid), what === 'held', now);
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
