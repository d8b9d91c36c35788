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

/** A tag that leads to `old` and wants `1-24`, where everything is well. */
function plan(situation: Partial<TagSituation>): string {
  const { target, revisionReady } = planTag({
    tag: revisionTag('prod'),
    wanted: next,
    current: old,
    published: () => served,
    lacking: () => [],
    revisions: ['1-24', 'old'],
    ...situation,
  });
  const said = revisionReady === undefined ? 'nothing' : `${revisionReady.status}/${revisionReady.reason}`;
  return `${target?.config.metadata.name ?? 'stays as it is'}, ${said}`;
}

const only = (...names: string[]) => ({
  published: (name: string) => (names.includes(name) ? served : undefined),
});

describe('planTag', () => {
  const rows: [what: string, situation: Partial<TagSituation>, plan: string][] = [
    ['what is ready is led to', {}, '1-24, True/RevisionReady'],
    ['for the first time, too', { current: undefined }, '1-24, True/RevisionReady'],
    ['where it leads already it stays', { current: next }, '1-24, True/RevisionReady'],
    [
      'there it stays when that is not ready',
      { wanted: config('1-24', {}, false), current: next },
      '1-24, False/RevisionNotReady',
    ],
    ['there nothing is lacking', { current: next, lacking: () => ['replica-1'] }, '1-24, True/RevisionReady'],
    ['what is not ready is waited for', { wanted: config('1-24', {}, false) }, 'old, False/RevisionNotReady'],
    ['what has no status is waited for', { wanted: injectorConfig('1-24') }, 'old, False/RevisionNotReady'],
    ['what a replica lacks is waited for', { lacking: () => ['replica-1'] }, 'old, False/RevisionNotReady'],
    ['of what has not been looked at nothing is said', only('old'), 'old, nothing'],
    ['nor of itself', only('1-24'), '1-24, True/RevisionReady'],
    ['of nothing that has been looked at', only(), 'stays as it is, nothing'],
    ['an unknown revision', { wanted: undefined }, 'old, False/UnknownRevision'],
    ['an unknown revision first', { wanted: undefined, current: undefined }, 'stays as it is, False/UnknownRevision'],
    ['a paused one', { wanted: config('1-24', { paused: true }) }, 'old, False/RevisionPaused'],
    [
      'a paused one where it leads',
      { wanted: config('1-24', { paused: true }), current: config('1-24', { paused: true }) },
      'stays as it is, False/RevisionPaused',
    ],
    [
      'to a paused one from a paused one',
      { wanted: undefined, current: config('old', { paused: true }) },
      'stays as it is, False/UnknownRevision',
    ],
  ];
  for (const [what, situation, expected] of rows) {
    it(`${what}: ${expected}`, () => {
      assert.equal(plan(situation), expected);
    });
  }
});
