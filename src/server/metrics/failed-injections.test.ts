import assert from 'node:assert/strict';
import { denied, type AdmissionDecision } from '../admission/admission-decision.ts';
import { podCreation } from '../testdata/reviews.ts';
import { FailedInjections } from './failed-injections.ts';

const failed = (code: number, hash = '01234567', message = 'because'): AdmissionDecision => ({
  ...denied('TemplateFailed', code, message),
  outcome: 'failed',
  injector: { name: 'blue', hash },
});

describe('FailedInjections', () => {
  let now: number;
  let reported: number;
  let failures: FailedInjections;
  beforeEach(() => {
    [now, reported] = [1_000_000, 0];
    failures = new FailedInjections(
      () => now,
      () => (reported += 1),
    );
  });

  it('counts the failures of a configuration, and keeps the last one', () => {
    failures.note(podCreation({ namespace: 'shop', name: 'web' }), failed(500));
    now += 10;
    failures.note(
      podCreation({ namespace: 'shop', name: '', object: { metadata: { generateName: 'api-' } } }),
      failed(500, undefined, 'other'),
    );
    assert.deepEqual(failures.list(), [
      {
        injectorConfig: 'blue',
        hash: '01234567',
        count: 2,
        first: 1_000_000,
        last: 1_000_010,
        reason: 'TemplateFailed',
        message: 'other',
        pod: 'shop/api-',
      },
    ]);
    assert.equal(reported, 1, 'the second failure is not new');
  });

  it("ignores authors' mistakes, dry runs, and decisions without a configuration", () => {
    failures.note(podCreation(), failed(422));
    failures.note(podCreation({ dryRun: true }), failed(500));
    failures.note(podCreation(), { ...denied('Internal', 500, 'because'), outcome: 'failed' });
    failures.note(podCreation(), { ...failed(500), outcome: 'denied' });
    assert.deepEqual([failures.list(), reported], [[], 0]);
  });

  it('removes a configuration after five minutes without a failure; a later failure is new', () => {
    failures.note(podCreation(), failed(500));
    now += 299_999;
    assert.equal(failures.list().length, 1);
    now += 2;
    assert.equal(failures.list().length, 0);
    failures.note(podCreation(), failed(500));
    assert.deepEqual([failures.list()[0]?.count, reported], [1, 2]);
  });

  it('keeps the sixteen configurations that failed last, and truncates long text', () => {
    for (let index = 0; index < 20; index++) failures.note(podCreation(), failed(500, `hash${index}`));
    failures.note(podCreation({ name: 'n'.repeat(1000) }), failed(500, 'hash4', 'a'.repeat(5000)));
    assert.deepEqual(
      failures.list().map(({ hash }) => hash),
      [...Array.from({ length: 15 }, (_, index) => `hash${index + 5}`), 'hash4'],
    );
    const [last] = failures.list().slice(-1);
    assert.deepEqual([last?.message.length, last?.pod.length], [400, 320]);
  });
});
