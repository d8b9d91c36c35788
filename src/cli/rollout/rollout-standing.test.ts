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
import { rolloutEnd } from './rollout-standing.ts';

describe('rolloutEnd', () => {
  const asked = (value: string) => ({ metadata: { annotations: { [rolloutActionAnnotation]: value } } });
  const answer = { verb: 'retry', nonce: '1', state: 'Done', message: 'begun' } as const;

  const continuing: [string, RevisionTag][] = [
    ['a rollout is under way', rolloutTag(paused)],
    ['the spec was not reconciled', rolloutTag(promoted, { metadata: { generation: 2 } })],
    ['there is no state yet', rolloutTag(undefined)],
    ['the tag does not have the revision of its spec', rolloutTag(rolloutState())],
    ['only an earlier rollout was promoted', rolloutTag({ ...promoted, stable: paused.stable })],
    ['a retry is not answered yet', rolloutTag(rolledBack, asked('retry:1'))],
    ['an abort was answered', rolloutTag({ ...rolledBack, action: { ...answer, verb: 'abort' } }, asked('retry:1'))],
  ];
  for (const [title, tag] of continuing) {
    it(`is undefined while ${title}`, () => {
      assert.equal(rolloutEnd(tag, true), undefined);
    });
  }

  const back = { spec: { revision: '1-24' } };
  const ends: [string, RevisionTag, boolean, boolean, RegExp][] = [
    ['the canary was promoted', rolloutTag(promoted), true, true, /1-25 is stable now/],
    ['the canary was rolled back', rolloutTag(rolledBack), false, false, /9 of 53 pods/],
    ['a retry ended', rolloutTag({ ...rolledBack, action: answer }, asked('retry:1')), true, false, /9 of 53/],
    ['the request is invalid', rolloutTag(rolledBack, asked('again')), true, false, /9 of 53/],
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
  for (const [title, tag, wasUnderWay, isSuccess, message] of ends) {
    it(`is defined when ${title}`, () => {
      const end = rolloutEnd(tag, wasUnderWay);
      assert.ok(end);
      assert.equal(end.isSuccess, isSuccess);
      assert.match(end.message, message);
    });
  }

  describe('with restarts', () => {
    const restart = { strategy: { ...strategy, restart: {} } };
    const afterRollback = { strategy: { ...strategy, rollback: { restart: 'Canary' } } };
    const done = restartStatus('1-25');
    const undone = restartStatus('1-24');
    const rows: [string, RolloutState | undefined, object, RestartStatus | undefined, boolean | undefined][] = [
      ['promoted and all done', promoted, restart, done, true],
      ['promoted and restarting', promoted, restart, restarting, undefined],
      ['promoted and waiting', promoted, restart, { ...restarting, phase: 'Waiting' }, undefined],
      ['promoted and stopped', promoted, restart, { ...restarting, phase: 'Stopped' }, false],
      ['promoted and not allowed', promoted, restart, { ...undone, phase: 'NotAllowed' }, false],
      ['promoted and not counted yet', promoted, restart, undefined, undefined],
      ['promoted and counted for the previous revision', promoted, restart, undone, undefined],
      ['promoted and stopped for another revision', promoted, restart, { ...undone, phase: 'Stopped' }, undefined],
      ['promoted, with restarts only after a rollback', promoted, afterRollback, restarting, true],
      ['rolled back and all done', rolledBack, afterRollback, undone, false],
      ['rolled back and restarting', rolledBack, afterRollback, { ...restarting, path: undone.path ?? '' }, undefined],
      ['rolled back and last counted in the rollout', rolledBack, afterRollback, { ...undone, path: '/x' }, undefined],
      ['moved without steps and all done', undefined, { strategy: { restart: {} } }, done, true],
      ['moved without steps and restarting', undefined, { strategy: { restart: {} } }, restarting, undefined],
      ['under way and stopped', paused, restart, { ...restarting, phase: 'Stopped' }, undefined],
    ];
    for (const [title, rollout, spec, restarts, isSuccess] of rows) {
      it(`${isSuccess === undefined ? 'continues' : isSuccess ? 'succeeds' : 'fails'} when ${title}`, () => {
        const target = { stableRevision: '1-25', injectorConfig: '1-25' };
        const reported = restarts && { ...restarts, message: 'a message' };
        const status = { ...(rollout === undefined ? target : {}), ...(reported && { restarts: reported }) };
        const end = rolloutEnd(rolloutTag(rollout, { spec, status }), true);
        assert.equal(end?.isSuccess, isSuccess);
        if (end !== undefined && spec !== afterRollback) assert.match(end.message, /; restarts: a message$/);
      });
    }
  });
});
