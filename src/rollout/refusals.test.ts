import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ObservedRefusal, ObservedWorkload, Refusal } from './observation.ts';
import { rankOf } from '../routing/workload-key.ts';
import {
  addRefusal,
  blamedRefusals,
  describeRefusals,
  isOver,
  isRefused,
  readRefusal,
  refusalFault,
  refusedShares,
  type RefusedShare,
} from './refusals.ts';
import { start, second } from './testdata/situation.ts';

const requests =
  'spec.containers[0].resources.requests: Invalid value: "500m": must be less than or equal to cpu limit';
const restricted = 'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "a")';

// The texts are those of Events that kube-controller-manager 1.36.3 wrote.
describe('readRefusal', () => {
  const refusals: [text: string, isInvalid: boolean, message: string][] = [
    [`Error creating: Pod "web-545b955c4b-klv9d" is invalid: ${requests}`, true, `the pod is invalid: ${requests}`],
    [
      `(combined from similar events): Error creating: Pod "web-545b955c4b-jjhpt" is invalid: ${requests}`,
      true,
      `the pod is invalid: ${requests}`,
    ],
    [
      `Create Pod state-0 in StatefulSet state failed error: Pod "state-0" is invalid: ${requests}`,
      true,
      `the pod is invalid: ${requests}`,
    ],
    // Older controllers write the verb in lowercase.
    ['create Pod es-0 in StatefulSet es failed error: Pod "es-0" is invalid: spec', true, 'the pod is invalid: spec'],
    [`Error creating: pods "d-5tm4m" is forbidden: ${restricted}`, false, `the pod is forbidden: ${restricted}`],
    [
      'Error creating: pods "job-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
      false,
      'the pod is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
    ],
    [
      'Error creating: admission webhook "a.example.com" denied the request: no\u001b[2J',
      false,
      'admission webhook "a.example.com" denied the request: no\\u{1b}[2J',
    ],
  ];
  for (const [text, isInvalid, message] of refusals) {
    it(`reads "${message.slice(0, 60)}" without the name of the pod`, () => {
      assert.deepEqual(readRefusal(text), { isInvalid, message });
    });
  }

  for (const text of [
    'Error creating: Internal error occurred: failed calling webhook "rec.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused',
    'Error creating: Timeout: request did not complete within requested timeout - context deadline exceeded',
    'Error creating: pods "state-0" already exists',
    'the author says: Pod "x" is invalid: forged',
    '',
  ]) {
    it(`does not take "${text.slice(0, 60)}" for an answer about the pod`, () => {
      assert.equal(readRefusal(text), undefined);
    });
  }

  it('bounds what it reads and returns', () => {
    const message = readRefusal(`Error creating: Pod "x" is invalid: ${'a'.repeat(1e6)}`)?.message ?? '';
    assert.equal(message.length, 500);
  });
});

/** The times of attempts with the back-off of client-go (5 ms to 1000 s), in milliseconds. */
function attempts(count: number): number[] {
  let [at, wait] = [0, 5];
  return Array.from({ length: count }, () => {
    const time = at;
    at += wait;
    wait = Math.min(2 * wait, 1_000_000);
    return time;
  });
}

describe('isOver and addRefusal', () => {
  const inSeconds = (time: number): number => Math.floor((start + time) / second) * second;

  it('follow a controller that keeps trying, wherever the observation begins', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 25 }), fc.nat(20), (count, from) => {
        const times = attempts(count + from + 1).slice(from);
        const known = times.slice(0, -1).reduce<{ since: number; at: number } | undefined>((refused, time) => {
          assert.ok(refused === undefined || !isOver(refused, start + time), 'it has not given up');
          return addRefusal(refused, inSeconds(time));
        }, undefined);
        assert.equal(known?.since, inSeconds(times[0] ?? 0));
        assert.equal(known.at, inSeconds(times.at(-2) ?? 0));
      }),
    );
  });

  it('notice that a controller has succeeded or given up', () => {
    const known = { since: start, at: start + 10 * second };
    assert.deepEqual([isOver(known, start + 40 * second), isOver(known, start + 41 * second)], [false, true]);
    const again = start + 60 * second;
    assert.deepEqual(addRefusal(known, again), { since: again, at: again });
    const counted = addRefusal(undefined, again, start);
    assert.deepEqual(counted, { since: start, at: again }, 'an Event with a count began earlier');
    assert.deepEqual(addRefusal(counted, again, start - 5 * second), { since: start - 5 * second, at: again });
    assert.equal(isOver({ since: start, at: start }, start + 1200 * second), false, 'a single attempt');
    assert.equal(
      isOver({ since: start, at: start + 900 * second }, start + 2101 * second),
      true,
      'longer than any wait',
    );
  });

  it('ignore an older Event, because a list has no order', () => {
    const known = { since: start + second, at: start + 9 * second };
    assert.deepEqual(addRefusal(known, start + 5 * second), known);
  });
});

/** Returns a workload whose pods were refused from 1 s to 12 s after the start. */
function refusal(name: string, fields: Partial<ObservedRefusal> = {}): ObservedRefusal {
  const workload = { namespace: 'shop', kind: 'Deployment', name };
  return {
    ...workload,
    object: `ReplicaSet ${name}-1`,
    message: 'the pod is forbidden: no',
    since: start + second,
    at: start + 12 * second,
    target: 'new.00000002',
    rank: rankOf('prod', { ...workload, ...fields }),
    newestPod: -Infinity,
    isAccepted: false,
    ...fields,
  };
}

describe('isRefused', () => {
  const rows: [
    what: string,
    expected: boolean,
    fields: Partial<ObservedRefusal>,
    from?: number | undefined,
    now?: number,
  ][] = [
    ['pods that are refused for a while', true, {}, 0],
    ['pods that have been refused for less than 10 s', false, {}, 0, 10],
    ['pods that were refused once', false, { at: start + second }, 0],
    ['pods of which one was created later', false, { newestPod: start + 12 * second }, 0],
    ['pods that are refused after others were created', true, { newestPod: start + 2 * second }, 0],
    ['pods that were refused only before the step began', false, {}, 11],
    ['pods that are no longer refused', false, {}, 0, 60],
    ['pods that were refused once, for a comparison', true, { at: start + second }],
    ['pods that are no longer refused, for a comparison', false, {}, undefined, 60],
  ];
  for (const [what, expected, fields, from, now = 20] of rows) {
    it(`is ${expected} for ${what}`, () => {
      const since = from === undefined ? undefined : start + from * second;
      assert.equal(isRefused(refusal('web', fields), start + now * second, since), expected);
    });
  }
});

describe('refusedShares', () => {
  const everyone = 'ffffffffffffffff';
  const state = (threshold: string, startedAt = 0) => ({
    threshold,
    startedAt: new Date(start + startedAt * second).toISOString(),
    stepStartedAt: new Date(start).toISOString(),
  });
  const workloads: ObservedWorkload[] = [
    { rank: rankOf('prod', refusal('web')), namespace: 'shop', pods: 1 },
    { rank: rankOf('prod', { namespace: 'bank', kind: 'Deployment', name: 'api' }), namespace: 'bank', pods: 1 },
  ];
  const canaryOf = (refusals: ObservedRefusal[], startedAt?: number): RefusedShare =>
    refusedShares(state(everyone, startedAt), { workloads, refusals }, start + 20 * second).canary;

  it('separates the workloads by rank, and counts a refused workload that has no pods', () => {
    const refusals = [refusal('web'), refusal('new', { namespace: 'lab' })];
    const now = start + 20 * second;
    const { canary, stable } = refusedShares(state('0000000000000000'), { workloads, refusals }, now);
    assert.deepEqual([canary.workloads, stable.workloads, stable.namespaces, stable.refused.length], [0, 3, 3, 2]);
    assert.deepEqual([canaryOf(refusals).workloads, canaryOf(refusals).refused.length], [3, 2]);
    const nothing = refusedShares(state(everyone), { workloads }, now);
    assert.deepEqual([nothing.canary.refused, nothing.canary.namespaces], [[], 2]);
  });

  const rows: [what: string, counts: boolean, fields: Partial<ObservedRefusal>, startedAt?: number][] = [
    ['was refused after the rollout began', true, {}],
    ['was refused before', false, {}, 2],
    ['was refused before, with a proof', true, { verdict: 'Proven' }, 2],
    ['was refused before, but had a pod in between', true, { newestPod: start + 2 * second }, 2],
    ['has a pod with the canary', false, { isAccepted: true }],
  ];
  for (const [what, counts, fields, startedAt] of rows) {
    it(`${counts ? 'counts' : 'does not count'} a canary workload that ${what}`, () => {
      assert.equal(canaryOf([refusal('web', fields)], startedAt).refused.length, Number(counts));
    });
  }
});

const verdict = fc.constantFrom<Refusal['verdict']>(undefined, 'Own', 'Proven');
const refused = fc.array(fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), verdict }, { noNullPrototype: true }), {
  maxLength: 8,
});
const shareOf = (each: readonly Partial<Refusal>[], more: number, namespaces = 3): RefusedShare => ({
  workloads: each.length + more,
  namespaces,
  refused: each.map((fields, index) => refusal(`web-${index}`, fields)),
});

describe('blamedRefusals', () => {
  it('never blames a configuration for one namespace without a proof, if others use it', () => {
    fc.assert(
      fc.property(refused, fc.nat(9), fc.integer({ min: 2, max: 3 }), (each, more, namespaces) => {
        const hostile = each.map(({ verdict: is }) => ({ namespace: 'a', verdict: is === 'Proven' ? undefined : is }));
        assert.deepEqual(blamedRefusals(shareOf(hostile, more, namespaces), shareOf([], 90), 0), []);
      }),
    );
  });

  it('never blames it if as many of the others are refused, without a proof', () => {
    fc.assert(
      fc.property(refused, fc.nat(9), fc.nat(50), (each, more, percent) => {
        const unproven = each.map(({ namespace }) => ({ namespace }));
        const share = shareOf(unproven, more);
        assert.deepEqual(blamedRefusals(share, share, percent), []);
      }),
    );
  });

  it('blames it for each proof, and never for a pod that is invalid with stable', () => {
    fc.assert(
      fc.property(refused, refused, (each, others) => {
        const blamed = blamedRefusals(shareOf(each, 100), shareOf(others, 0), 10);
        const proofs = each.filter((one) => one.verdict === 'Proven').length;
        if (proofs > 0) assert.equal(blamed.length, proofs);
        assert.ok(blamed.every((one) => one.verdict === (proofs > 0 ? 'Proven' : undefined)));
      }),
    );
  });

  for (const [failing, percent, expected] of [
    [2, 10, 0],
    [3, 10, 3],
    [2, 9, 2],
  ] as const) {
    it(`blames it for ${expected} of ${failing} refused workloads of 20 at ${percent} percent`, () => {
      const each = Array.from({ length: failing }, (_, index) => ({ namespace: index === 0 ? 'a' : 'b' }));
      assert.equal(blamedRefusals(shareOf(each, 20 - failing), shareOf([], 80), percent).length, expected);
    });
  }

  it('blames it for one namespace if no other uses it', () => {
    assert.equal(blamedRefusals(shareOf([{}], 0, 1), shareOf([], 9), 10).length, 1);
  });
});

describe('refusalFault', () => {
  it('names workload, object and message, and the shares', () => {
    const canary = shareOf([{ namespace: 'a' }, { namespace: 'b' }, { namespace: 'c' }], 1);
    const fault = refusalFault({ canary, stable: shareOf([{}], 9) }, { maximumFailingPercent: 10 });
    assert.deepEqual(fault, {
      reason: 'PodsRefused',
      message:
        'the API server refuses the pods of 3 of 4 workloads of the canary, and of 1 of 10 of the stable revision: more than 10 percent worse (spec.strategy.canary.analysis.maximumFailingPercent): Deployment a/web-0 (ReplicaSet web-0-1): the pod is forbidden: no; Deployment b/web-1 (ReplicaSet web-1-1): the pod is forbidden: no; and 1 more',
    });
    const proven = refusalFault(
      { canary: shareOf([{ verdict: 'Proven' }], 9), stable: shareOf([], 9) },
      { maximumFailingPercent: 100 },
    );
    assert.match(proven?.message ?? '', /^the API server refuses pods of the canary that are valid with the stable/);
  });

  it('bounds a description, and omits an object that is the workload itself', () => {
    const long = { message: 'm'.repeat(1000), name: 'n'.repeat(253) };
    assert.ok(describeRefusals([refusal('a', long), refusal('b', long), refusal('c', long)]).length < 1500);
    const set = refusal('set', { kind: 'StatefulSet', object: 'StatefulSet set' });
    assert.equal(describeRefusals([set]), 'StatefulSet shop/set: the pod is forbidden: no');
  });
});
