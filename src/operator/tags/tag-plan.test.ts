import assert from 'node:assert/strict';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import type { PublishedRevision } from '../webhooks/revision-facts.ts';
import { planTag, type TagSituation } from './tag-plan.ts';

function config(name: string, spec: Record<string, unknown> = {}, isReady = true): InjectorConfig {
  const status = isReady ? ('True' as const) : ('False' as const);
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'Ready', status, reason: 'Because', message: 'of this', lastTransitionTime }];
  return { ...injectorConfig(name, spec), status: { conditions } };
}

const served: PublishedRevision = { hash: '0123abcd', caBundlePem: 'PEM' };
const old = config('old');
const next = config('1-24');

/** Plans a tag that points to `old` and should move to `1-24`, which is ready by default. */
function plan(situation: Partial<TagSituation>): string {
  const { target, revisionReady } = planTag({
    tag: revisionTag('prod'),
    desired: next,
    current: old,
    published: () => served,
    lacking: () => [],
    revisions: ['1-24', 'old'],
    ...situation,
  });
  const actual = revisionReady === undefined ? 'nothing' : `${revisionReady.status}/${revisionReady.reason}`;
  return `${target?.config.metadata.name ?? 'unchanged'}, ${actual}`;
}

const only = (...names: string[]) => ({
  published: (name: string) => (names.includes(name) ? served : undefined),
});

describe('planTag', () => {
  const rows: [what: string, situation: Partial<TagSituation>, plan: string][] = [
    ['a ready revision', {}, '1-24, True/RevisionReady'],
    ['a ready revision, for a new tag', { current: undefined }, '1-24, True/RevisionReady'],
    ['the current revision', { current: next }, '1-24, True/RevisionReady'],
    [
      'the current revision when it is not ready',
      { desired: config('1-24', {}, false), current: next },
      '1-24, False/RevisionNotReady',
    ],
    ['the current revision that a replica lacks', { current: next, lacking: () => ['a'] }, '1-24, True/RevisionReady'],
    ['a revision that is not ready', { desired: config('1-24', {}, false) }, 'old, False/RevisionNotReady'],
    ['a revision without a status', { desired: injectorConfig('1-24') }, 'old, False/RevisionNotReady'],
    ['a revision that a replica lacks', { lacking: () => ['replica-1'] }, 'old, False/RevisionNotReady'],
    ['a revision before its first pass', only('old'), 'old, nothing'],
    ['a ready revision if only this revision had a pass', only('1-24'), '1-24, True/RevisionReady'],
    ['a revision before any pass', only(), 'unchanged, nothing'],
    ['an unknown revision', { desired: undefined }, 'old, False/UnknownRevision'],
    ['a new tag that has no target', { desired: undefined, current: undefined }, 'unchanged, False/UnknownRevision'],
    ['a paused revision', { desired: config('1-24', { paused: true }) }, 'old, False/RevisionPaused'],
    [
      'the current revision when it is paused',
      { desired: config('1-24', { paused: true }), current: config('1-24', { paused: true }) },
      'unchanged, False/RevisionPaused',
    ],
    [
      'an unknown revision while the current revision is paused',
      { desired: undefined, current: config('old', { paused: true }) },
      'unchanged, False/UnknownRevision',
    ],
  ];
  for (const [what, situation, expected] of rows) {
    it(`plans ${expected} for ${what}`, () => {
      assert.equal(plan(situation), expected);
    });
  }
});
