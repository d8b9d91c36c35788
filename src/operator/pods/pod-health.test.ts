import assert from 'node:assert/strict';
import { mostRestarts, podHealth, readySince } from './pod-health.ts';

const at = '2026-06-01T00:00:00Z';
const since = Date.parse(at) / 1000;
const container = (fields: object): object => ({ name: 'app', ...fields });
const waiting = (reason: string): object => ({ state: { waiting: { reason } } });
const ready = (status: string): object => ({ type: 'Ready', status, lastTransitionTime: at });
const initialized = { type: 'Initialized' };
const ended = { terminated: { exitCode: 1, reason: 'Error' } };
const crashing = container({ restartCount: 1, ...waiting('CrashLoopBackOff'), lastState: ended });

describe('podHealth', () => {
  const cases: [what: string, status: unknown, expected?: object][] = [
    ['a missing status', undefined],
    ['a pod that is ready', { phase: 'Running', conditions: [initialized, ready('True')] }, { ready: true }],
    ['a pod that is not ready', { conditions: [ready('False')] }],
    [
      'the restarts of all containers, including sidecars',
      { containerStatuses: [container({ restartCount: 2 })], initContainerStatuses: [container({ restartCount: 1 })] },
      { restarts: 3, trouble: 'container app: restarted' },
    ],
    [
      'a sidecar that crashes, before a container that is not ready',
      { containerStatuses: [container({ ready: false })], initContainerStatuses: [crashing] },
      { restarts: 1, crashing: true, trouble: 'container app: CrashLoopBackOff, last exit code 1 (Error)' },
    ],
    [
      'a container that waits for its image',
      { containerStatuses: [container({ ready: false, ...waiting('ImagePullBackOff') })] },
      { trouble: 'container app: ImagePullBackOff' },
    ],
    [
      'the container that ended, next to a ready one',
      { phase: 'Failed', containerStatuses: [container({ ready: true }), { name: 'b', ready: false, state: ended }] },
      { crashing: true, trouble: 'container b: not ready, last exit code 1 (Error)' },
    ],
    ['a pod that was evicted', { phase: 'Failed', reason: 'Evicted' }, { crashing: true, trouble: 'Evicted' }],
    [
      'hostile names',
      { containerStatuses: [{ name: `\u202e${'x'.repeat(99)}`, ready: false }] },
      { trouble: `container \\u{202e}${'x'.repeat(62)}: not ready` },
    ],
    ['a pod that has failed', { phase: 'Failed' }, { crashing: true }],
    ['invalid fields', { conditions: 'x', containerStatuses: [null, { restartCount: 'many', state: 3 }], phase: 7 }],
  ];
  it('reads the time of the Ready condition', () => {
    assert.equal(readySince({ conditions: [ready('False')] }), since);
    assert.equal(readySince({ conditions: [{ type: 'Ready', status: 'False' }] }), undefined);
    assert.equal(readySince(undefined), undefined);
  });

  it('returns the same object for pods without trouble, and bounds the number of restarts', () => {
    const health = (restartCount: number) => podHealth({ containerStatuses: [{ restartCount }] });
    assert.equal(health(0), health(0));
    assert.notEqual(health(5), health(5));
    assert.equal(health(10_000_000).restarts, mostRestarts);
    assert.equal(health(0.5), health(0));
  });

  for (const [what, status, expected] of cases) {
    it(`reads ${what}`, () => {
      assert.deepEqual(podHealth(status), { ready: false, restarts: 0, crashing: false, ...expected });
    });
  }
});
