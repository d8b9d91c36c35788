import assert from 'node:assert/strict';
import { rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RevisionTag, RestartStatus, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import {
  paused,
  promoted,
  restarting,
  restartStatus,
  rolledBack,
  rolloutState,
  rolloutTag,
  strategy,
} from '../testdata/rollout-tag.ts';
import { rolloutEnd } from './rollout-end.ts';

describe('the end of a watched rollout', () => {
  const asked = (value: string) => ({ metadata: { annotations: { [rolloutActionAnnotation]: value } } });
  const answer = { verb: 'retry', nonce: '1', state: 'Done', message: 'begun' } as const;

  const goesOn: [string, RevisionTag][] = [
    ['it is under way', rolloutTag(paused)],
    ['the spec has not been looked at', rolloutTag(promoted, { metadata: { generation: 2 } })],
    ['there is no state yet', rolloutTag(undefined)],
    ['the tag is not where its spec says', rolloutTag(rolloutState())],
    ['one before it was promoted', rolloutTag({ ...promoted, stable: paused.stable })],
    ['a retry is not answered yet', rolloutTag(rolledBack, asked('retry:1'))],
    ['another was answered', rolloutTag({ ...rolledBack, action: { ...answer, verb: 'abort' } }, asked('retry:1'))],
  ];
  for (const [what, tag] of goesOn) {
    it(`is not there while ${what}`, () => {
      assert.equal(rolloutEnd(tag, true), undefined);
    });
  }

  const back = { spec: { revision: '1-24' } };
  const ends: [string, RevisionTag, boolean, boolean, RegExp][] = [
    ['it was promoted', rolloutTag(promoted), true, true, /1-25 is stable now/],
    ['it was rolled back', rolloutTag(rolledBack), false, false, /9 of 53 pods/],
    ['it was answered', rolloutTag({ ...rolledBack, action: answer }, asked('retry:1')), true, false, /9 of 53/],
    ['nobody can read the request', rolloutTag(rolledBack, asked('again')), true, false, /9 of 53/],
    ['the spec was set back', rolloutTag(rolloutState(), back), true, false, /ended: pods get revision 1-24/],
    ['there was nothing to do', rolloutTag(rolloutState(), back), false, true, /^no rollout is under way: pods get/],
    [
      'the strategy was removed',
      rolloutTag(undefined, { isAtOnce: true, status: { stableRevision: '1-25' } }),
      true,
      true,
      /^pods get revision 1-25; the tag has no canary/,
    ],
  ];
  for (const [what, tag, wasUnderWay, isWanted, message] of ends) {
    it(`is there when ${what}`, () => {
      const end = rolloutEnd(tag, wasUnderWay);
      assert.ok(end);
      assert.equal(end.isWanted, isWanted);
      assert.match(end.message, message);
    });
  }

  describe('with restarts', () => {
    const restart = { strategy: { ...strategy, restart: {} } };
    const afterRollback = { strategy: { ...strategy, rollback: { restart: 'Canary' } } };
    const done = restartStatus('1-25');
    const undone = restartStatus('1-24');
    const rows: [string, RolloutState | undefined, object, RestartStatus | undefined, boolean | undefined][] = [
      ['promoted, all done', promoted, restart, done, true],
      ['promoted, restarting', promoted, restart, restarting, undefined],
      ['promoted, waiting', promoted, restart, { ...restarting, phase: 'Waiting' }, undefined],
      ['promoted, stopped', promoted, restart, { ...restarting, phase: 'Stopped' }, false],
      ['promoted, not allowed', promoted, restart, { ...undone, phase: 'NotAllowed' }, false],
      ['promoted, nobody has looked', promoted, restart, undefined, undefined],
      ['promoted, counted for the revision before', promoted, restart, undone, undefined],
      ['promoted, stopped for the revision before', promoted, restart, { ...undone, phase: 'Stopped' }, undefined],
      ['promoted, for a rollback only', promoted, afterRollback, restarting, true],
      ['rolled back, all done', rolledBack, afterRollback, undone, false],
      ['rolled back, restarting', rolledBack, afterRollback, { ...restarting, path: undone.path ?? '' }, undefined],
      ['rolled back, counted in the rollout', rolledBack, afterRollback, { ...undone, path: '/x' }, undefined],
      ['at once, all done', undefined, { strategy: { restart: {} } }, done, true],
      ['at once, restarting', undefined, { strategy: { restart: {} } }, restarting, undefined],
      ['under way, stopped', paused, restart, { ...restarting, phase: 'Stopped' }, undefined],
    ];
    for (const [what, rollout, spec, restarts, isWanted] of rows) {
      it(`${what}: ${isWanted === undefined ? 'goes on' : isWanted ? 'ends well' : 'ends otherwise'}`, () => {
        const place = { stableRevision: '1-25', injectorConfig: '1-25' };
        const said = restarts && { ...restarts, message: 'said so' };
        const status = { ...(rollout === undefined ? place : {}), ...(said && { restarts: said }) };
        const end = rolloutEnd(rolloutTag(rollout, { spec, status }), true);
        assert.equal(end?.isWanted, isWanted);
        if (end !== undefined && spec !== afterRollback) assert.match(end.message, /; restarts: said so$/);
      });
    }
  });
});
