import assert from 'node:assert/strict';
import {
  paused,
  promoted,
  restarting,
  rolledBack,
  rolloutState,
  rolloutTag,
  strategy,
} from '../testdata/rollout-tag.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { ready } from '../testdata/revision-cluster.ts';
import { drawRollout, shortDuration } from './draw-rollout.ts';
import { rolloutLine } from './rollout-lines.ts';

const now = new Date('2026-01-01T01:03:05Z');
const wide = { columns: 120, rows: 40 };

describe('drawRollout', () => {
  it('shows revisions, message, share, pods and steps', () => {
    assert.deepEqual(drawRollout(rolloutTag(paused), wide, now), [
      'RevisionTag prod: revision 1-24 -> 1-25: Paused, for 1h03m',
      '',
      'step 2 (25 percent) is paused until a user resumes it',
      '',
      'share    [########......................]  25 % = 53 of 212 workloads',
      'stable   150 of 159 pods ready, 1 failing (1-24)',
      'canary   50 of 53 pods ready, 0 failing (1-25, configuration 00000000)',
      '',
      '✓  1  shadow',
      '>  2    25 %  pause until resumed, paused for 1h01m',
      '   3    50 %  pause 10m',
      '   4   100 %',
    ]);
  });

  it('shows the comparisons of a shadow step', () => {
    const changed = ['spec.containers[proxy].image', 'x'];
    const shadowReport = { compared: 12, failed: 1, differing: 2, changed, error: 'nil' };
    const lines = drawRollout(rolloutTag({ ...paused, step: 0, shadow: true, weight: 0, shadowReport }), wide, now);
    assert.deepEqual(lines.slice(7, 10), [
      'shadow   12 pods compared: 1 failed, 2 differ',
      '         differing: spec.containers[proxy].image, x',
      '         error: nil',
    ]);
    assert.match(lines[4] ?? '', /^share {4}\[\.{30}\] {2}shadow$/);
  });

  it('marks completed, failed and skipped steps, and prints the next command after a rollback', () => {
    const marks = (rollout: RolloutState): string =>
      drawRollout(rolloutTag(rollout), wide, now)
        .slice(-4)
        .map((line) => line[0])
        .join('');
    assert.equal(marks({ ...promoted, step: 4 }), '✓✓✓✓');
    assert.equal(marks({ ...promoted, step: 1 }), '✓---');
    assert.equal(marks(promoted), '✓✓✓✓', 'from an older operator');
    assert.equal(marks({ ...rolledBack, step: 1 }), '✓✗  ');
    assert.equal(drawRollout(rolloutTag({ ...promoted, step: 3 }), wide, now).at(-1), '-  4   100 %  skipped');
    const picture = drawRollout(rolloutTag(rolledBack), wide, now).join('\n');
    assert.match(picture, /\nuse `injector tag retry prod` to start[^]*\n\n[^]*\ncanary .*\(1-25, configuration/);
  });

  it('shows a pause by a user, and no reason of an earlier phase', () => {
    const conditions = [ready('False', 'WaitingForPods', 'an earlier message')];
    const tag = rolloutTag({ ...paused, step: 3, resumed: false }, { status: { conditions } });
    const picture = drawRollout(tag, wide, now);
    assert.equal(picture.at(-1), '>  4   100 %  pause until resumed, paused for 1h01m');
    assert.doesNotMatch(`${picture.join('\n')}${rolloutLine(tag)}`, /WaitingForPods|earlier/);
  });

  it('shows restarts with the first waiting and skipped workloads', () => {
    const spec = { strategy: { ...strategy, restart: {} } };
    const tag = rolloutTag(paused, { spec, status: { restarts: restarting } });
    assert.deepEqual(drawRollout(tag, wide, now).slice(6, 15), [
      'canary   50 of 53 pods ready, 0 failing (1-25, configuration 00000000)',
      '',
      'restarts Restarting: 40 workloads stale, 1 restarting',
      '         1 restarting, 38 to come',
      '         waits shop/Deployment/a: 1 workload is restarting, so the maximum is reached (maxUnavailableWorkloads)',
      '         waits shop/Deployment/b: 1 workload is restarting, so the maximum is reached (maxUnavailableWorkloads)',
      '         waits shop/Deployment/c: 1 workload is restarting, so the maximum is reached (maxUnavailableWorkloads)',
      '         skips shop/DaemonSet/agent: its pods are replaced only when they are deleted (OnDelete): delete them',
      '',
    ]);
  });

  it('shows what is expected of updates in place', () => {
    const inPlace = { workloads: 30, byRestart: 9, notCompared: 1, obstacle: 'shop/Deployment/web: its pods …' };
    const spec = { strategy: { restart: {}, update: 'InPlace' } };
    const tag = rolloutTag(paused, { spec, status: { restarts: { ...restarting, inPlace } } });
    const expected = '30 in place, 9 by restart, 1 not compared yet: shop/Deployment/web: its pods …';
    assert.ok(rolloutLine(tag).endsWith(`1 restarting, 38 to come; ${expected}`), rolloutLine(tag));
    assert.ok(drawRollout(tag, wide, now).includes(`         ${expected}`));
    const known = { workloads: 40, byRestart: 0, notCompared: 0 };
    const all = rolloutTag(paused, { spec, status: { restarts: { ...restarting, inPlace: known } } });
    assert.ok(rolloutLine(all).endsWith('; 40 in place, 0 by restart'));
  });

  it('shows restarts of a tag without steps, and hides restarts that the spec no longer requests', () => {
    const over = rolloutTag(paused, { status: { restarts: restarting } });
    assert.doesNotMatch(`${drawRollout(over, wide, now).join('')}${rolloutLine(over)}`, /restarts/);
    const spec = { strategy: { restart: {} } };
    const conditions = [ready('True', 'Published', 'pods get revision 1-25')];
    const status = { stableRevision: '1-25', conditions, restarts: restarting };
    assert.deepEqual(drawRollout(rolloutTag(undefined, { spec, status }), wide, now).slice(0, 6), [
      'RevisionTag prod: revision 1-25: Ready',
      '',
      'pods get revision 1-25',
      '',
      'restarts Restarting: 40 workloads stale, 1 restarting',
      '         1 restarting, 38 to come',
    ]);
  });

  it('fits every screen, and shows the current step', () => {
    const steps = Array.from({ length: 20 }, (_, index) => ({ weight: index * 5 }));
    const shadowReport = { compared: 1, failed: 0, differing: 1, changed: ['spec.containers[x].env'.repeat(9)] };
    const tag = rolloutTag(
      { ...paused, step: 14, message: 'word '.repeat(300), shadowReport },
      {
        spec: { strategy: { canary: { steps }, restart: {} } },
        status: { restarts: { ...restarting, message: 'word '.repeat(300) } },
      },
    );
    for (const columns of [20, 80]) {
      for (const rows of [18, 24, 60]) {
        const lines = drawRollout(tag, { columns, rows }, now);
        assert.ok(lines.length < rows, `${lines.length} lines on ${rows} rows`);
        assert.ok(lines.every((line) => line.length <= columns));
        assert.equal(lines.filter((line) => line.startsWith('> 15')).length, 1);
        assert.equal(lines.filter((line) => line.startsWith('restarts Restar')).length, 1);
      }
    }
    assert.equal(drawRollout(tag, { columns: 1, rows: 1 }, now).length, 1);
  });

  it('escapes control characters', () => {
    const evil = { namespace: 'n', kind: 'Deployment', name: 'x', reason: 'Budget', message: '\u001B[2J\nb' };
    const tag = rolloutTag(
      {
        ...paused,
        message: 'a\u001B[2J\nb',
        shadowReport: { compared: 1, failed: 1, differing: 0, changed: ['\u009B1m'], error: '\u001B]0;x\u0007' },
      },
      {
        spec: { strategy: { ...strategy, restart: {} } },
        status: { restarts: { ...restarting, message: '\u009B1m', waiting: [evil], untouched: [evil] } },
      },
    );
    // eslint-disable-next-line no-control-regex -- the test looks for control characters
    assert.doesNotMatch([...drawRollout(tag, wide, now), rolloutLine(tag)].join(''), /[\u0000-\u001F\u007F-\u009F]/);
  });

  it('formats durations in the two largest units', () => {
    assert.deepEqual([-5, 59_999, 185_000, 3_785_000].map(shortDuration), ['0s', '59s', '3m05s', '1h03m']);
  });
});

describe('rolloutLine', () => {
  const next =
    'use `injector tag retry prod` to start the rollout again, or `injector tag set prod -r 1-24 --overwrite` to give up';
  const unreachable = { status: { conditions: [ready('False', 'NotReachable', 'refused')] } };
  const rows: [string, ReturnType<typeof rolloutTag>, string][] = [
    [
      'a step',
      rolloutTag(paused),
      'Paused, step 2 of 4, 25 % = 53 of 212 workloads, canary 50 of 53 pods ready, 0 failing, stable 150 of 159 pods ready, 1 failing: step 2 (25 percent) is paused until a user resumes it',
    ],
    [
      'a shadow step',
      rolloutTag({ ...paused, phase: 'Shadowing', shadow: true, step: 0, message: 'm' }),
      'Shadowing, step 1 of 4, shadow, 0 pods compared, 0 failed, 0 differ: m',
    ],
    [
      'a step that the spec no longer has',
      rolloutTag(
        { ...paused, step: 7, message: 'm' },
        { spec: { strategy: { canary: { steps: strategy.canary.steps } } } },
      ),
      'Paused, step 8 of 8, 25 % = 53 of 212 workloads, canary 50 of 53 pods ready, 0 failing, stable 150 of 159 pods ready, 1 failing: m',
    ],
    ['a rollback', rolloutTag(rolledBack), `RolledBack: ${rolledBack.message}; ${next}`],
    ['a promotion', rolloutTag(promoted), `Promoted: ${promoted.message}`],
    ['an obstacle before a rollout', rolloutTag(rolloutState(), unreachable), 'Idle: NotReachable: refused'],
    [
      'a problem with the webhook',
      rolloutTag({ ...rolledBack, message: 'm' }, unreachable),
      `RolledBack: m; NotReachable: refused; ${next}`,
    ],
    [
      'restarts',
      rolloutTag(paused, { spec: { strategy: { ...strategy, restart: {} } }, status: { restarts: restarting } }),
      'Paused, step 2 of 4, 25 % = 53 of 212 workloads, canary 50 of 53 pods ready, 0 failing, stable 150 of 159 pods ready, 1 failing: step 2 (25 percent) is paused until a user resumes it; restarts Restarting, 40 workloads stale, 1 restarting: 1 restarting, 38 to come',
    ],
    [
      'restarts that are not allowed',
      rolloutTag(undefined, {
        spec: { strategy: { restart: {} } },
        status: {
          restarts: { phase: 'NotAllowed', message: 'm', stale: 0, inProgress: 0, waiting: [], untouched: [] },
        },
      }),
      'Waiting: NotObserved: ; restarts NotAllowed: m',
    ],
    [
      'restarts without steps, before the tag has moved',
      rolloutTag(undefined, { spec: { strategy: { restart: {} } }, status: { restarts: restarting } }),
      'Waiting: NotObserved: ; restarts Restarting, 40 workloads stale, 1 restarting: 1 restarting, 38 to come',
    ],
    [
      'a tag that was not reconciled',
      rolloutTag(undefined, { metadata: { generation: 2 } }),
      'Waiting: NotLookedAt: no operator has reconciled the current spec; check that the operator is running',
    ],
    [
      'a request without an answer',
      rolloutTag(
        { ...rolledBack, message: 'm' },
        { metadata: { annotations: { 'sidecar-injector.io/action': 'retry:1' } } },
      ),
      'RolledBack: m; retry was requested, but the operator has not answered yet',
    ],
  ];
  for (const [title, tag, line] of rows) {
    it(`shows ${title}`, () => {
      assert.equal(rolloutLine(tag), line);
    });
  }
});
