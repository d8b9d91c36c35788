import assert from 'node:assert/strict';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { revisionTag } from '../api/testdata/revision-tag.ts';
import { claimOfConfig, podClaims, claimOfTag, winningClaim, isTagged, nameOf } from './pod-claims.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';

function config(name: string, age: number, spec: Record<string, unknown> = {}, metadata = {}): InjectorConfig {
  const object = injectorConfig(name, spec);
  return { ...object, metadata: { ...object.metadata, ...aged(age), ...metadata } };
}

function tag(name: string, age: number, spec: Record<string, unknown> = {}, metadata = {}): RevisionTag {
  const object = revisionTag(name, spec);
  return { ...object, metadata: { ...object.metadata, ...aged(age), ...metadata } };
}

const aged = (age: number) => ({ creationTimestamp: `2026-01-0${age}T00:00:00Z` });

const selectors = (fields: object): Record<string, unknown> => ({
  webhook: { selection: 'Custom', objectSelector: {}, ...fields },
});
const custom = (team: string) => selectors({ namespaceSelector: { matchLabels: { team } } });
const noRevision = { matchExpressions: [{ key: 'istio.io/rev', operator: 'DoesNotExist' }] };
const logs = {
  webhook: { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } },
};

describe('winningClaim', () => {
  const mine = config('mine', 2, { revision: 'r' });
  const own = config('mine', 2, { ...custom('a'), revision: 'r' });
  const older = config('other', 1, { revision: 'r' });
  const customLogs = selectors(logs.webhook);
  const unrevised = config('mine', 2, selectors({ objectSelector: noRevision, namespaceSelector: noRevision }));
  const excluding = config('mine', 2, selectors({ excludedNamespaces: ['team-b'] }));
  const inTeamB = selectors({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-b' } } });
  const cases: [title: string, config: InjectorConfig, other: InjectorConfig, wins: boolean][] = [
    ['an older InjectorConfig with the same revision', mine, older, true],
    ['a younger InjectorConfig', mine, config('other', 3, { revision: 'r' }), false],
    ['an InjectorConfig of the same age with an earlier name', mine, config('a', 2, { revision: 'r' }), true],
    ['an InjectorConfig of the same age with a later name', mine, config('z', 2, { revision: 'r' }), false],
    ['an InjectorConfig whose name is the revision', mine, config('r', 1), true],
    ['an InjectorConfig with another revision', mine, config('other', 1), false],
    ['a claim of another family', mine, config('other', 1, { revision: 'r', ...logs }), false],
    ['a claim of another operator class', mine, config('other', 1, { revision: 'r', operatorClass: 'x' }), false],
    ['a claim that is being deleted', mine, config('other', 1, { revision: 'r' }, { deletionTimestamp: 'now' }), false],
    ['the InjectorConfig itself', mine, config('mine', 1, { revision: 'r' }), false],
    ['an older claim with the same custom selectors', own, config('other', 1, custom('a')), true],
    ['an older claim with different custom selectors', own, config('other', 1, custom('b')), false],
    ['an older claim with a revision, against custom selectors,', own, older, true],
    ['an older claim with custom selectors, against a revision,', mine, config('other', 1, custom('a')), true],
    ['an older claim with wider custom selectors', own, config('other', 1, selectors({})), true],
    ['an older claim with custom selectors in another family', own, config('other', 1, customLogs), false],
    ['an older claim whose revision label our selectors exclude', unrevised, older, false],
    ['an older claim whose namespaces we exclude', excluding, config('other', 1, inTeamB), false],
  ];
  for (const [title, one, other, wins] of cases) {
    it(`${title} ${wins ? 'wins' : 'does not win'}`, () => {
      const others = podClaims({ configs: [one, other], tags: [], targetOf: () => undefined });
      assert.equal(winningClaim(claimOfConfig(one), others)?.name, wins ? other.metadata.name : undefined);
    });
  }

  it('returns the oldest of several claims', () => {
    const others = [config('b', 1, { revision: 'r' }), config('a', 1, { revision: 'r' })];
    assert.equal(winningClaim(claimOfConfig(mine), others.map(claimOfConfig))?.name, 'a');
  });

  const stable = config('1-24', 4);
  const prod = tag('prod', 2);
  const special = selectors({ namespaceSelector: { matchLabels: { 'istio-injection': 'special' } } });
  const chosen = config('mine', 2, custom('a'));
  const wide = config('mine', 1, custom('a'));
  const named = { revision: 'prod' };
  const rows: [title: string, loser: string, others: InjectorConfig[], tags: RevisionTag[], winner?: string][] = [
    ['a tag with a unique name', 'prod', [], [prod]],
    ['two tags with one revision', 'prod', [], [prod, tag('test', 1)]],
    ['a tag with the name of an older revision', 'prod', [config('prod', 1)], [prod], 'InjectorConfig prod'],
    ['a revision with the name of an older tag', 'mine', [config('mine', 3, named)], [prod], 'RevisionTag prod'],
    ['a tag and a revision with the same name and age', 'prod', [config('prod', 2)], [prod], 'InjectorConfig prod'],
    ['a tag with the name of a revision of another family', 'prod', [config('prod', 1, logs)], [prod]],
    ['a tag of another operator class', 'prod', [config('prod', 1, { operatorClass: 'x' })], [prod]],
    ['a tag and older custom selectors that could match its pods', 'prod', [wide], [prod], 'InjectorConfig mine'],
    ['custom selectors and an older tag', 'mine', [config('mine', 3, custom('a'))], [prod], 'RevisionTag prod'],
    ['tag default and revision default', 'default', [config('default', 1)], [tag('default', 2)]],
    [
      'tag default, which replaces an older default, and custom selectors that yield to that default',
      'default',
      [config('default', 1), chosen],
      [tag('default', 3)],
    ],
    [
      'custom selectors and a younger tag default, which replaces an older default',
      'mine',
      [config('default', 1), chosen],
      [tag('default', 3)],
      'RevisionTag default',
    ],
    [
      'tag default and an older default with custom selectors that cannot match pods of the tag',
      'default',
      [config('default', 1, special)],
      [tag('default', 2)],
      'InjectorConfig default',
    ],
    [
      'tag default and an older default with custom selectors, which has the webhook configuration that the tag needs',
      'default',
      [config('default', 1, custom('a'))],
      [tag('default', 2)],
      'InjectorConfig default',
    ],
  ];
  for (const [title, loser, others, tags, winner] of rows) {
    it(`${title}: ${winner ?? 'no other object'} wins`, () => {
      const all = podClaims({ configs: [stable, ...others], tags, targetOf: () => stable });
      const isTag = tags.some(({ metadata }) => metadata.name === loser);
      const own = all.find(({ name, kind }) => name === loser && (kind === 'RevisionTag') === isTag);
      const found = own && winningClaim(own, all);
      assert.ok(own !== undefined);
      assert.equal(found && nameOf(found), winner);
    });
  }
});

describe('podClaims', () => {
  it('omits objects that are being deleted, a tag without a target, and the default that a tag replaces', () => {
    const deleted = { deletionTimestamp: 'now' };
    const configs = [config('default', 1), config('old', 1, {}, deleted), config('1-24', 1)];
    const tags = [tag('default', 2), tag('lost', 2, { revision: 'nowhere' }), tag('going', 2, {}, deleted)];
    const targetOf = ({ spec }: RevisionTag) => configs.find(({ metadata }) => metadata.name === spec.revision);
    const found = podClaims({ configs, tags, targetOf });
    assert.deepEqual(found.map(nameOf), ['InjectorConfig 1-24', 'RevisionTag default']);
  });

  it('uses the selectors of the webhooks', () => {
    const stable = config('1-24', 1);
    const [first, second, ...others] = claimOfTag(tag('prod', 1), stable).selectors;
    assert.deepEqual([first?.name, second?.name, others], ['rev.namespace', 'rev.object', []]);
  });
});

describe('isTagged', () => {
  const own = config('default', 1);
  it('returns true only for InjectorConfig default, if a live tag default has the same class', () => {
    assert.equal(isTagged(own, [tag('default', 2)]), true);
    assert.equal(isTagged(own, []), false);
    assert.equal(isTagged(own, [tag('prod', 2)]), false);
    assert.equal(isTagged(own, [tag('default', 2, { operatorClass: 'x' })]), false);
    assert.equal(isTagged(own, [tag('default', 2, {}, { deletionTimestamp: 'now' })]), false);
    assert.equal(isTagged(config('1-24', 1), [tag('default', 2)]), false);
    assert.equal(isTagged(config('default', 1, custom('a')), [tag('default', 2)]), false);
  });
});
