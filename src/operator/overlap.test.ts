import assert from 'node:assert/strict';
import type { InjectorConfig } from '../api/injector-config.ts';
import { parseInjectorConfig } from '../api/parse-injector-config.ts';
import { overlapWinner } from './overlap.ts';
import { injectorConfig } from './testdata/operator-fixture.ts';

function config(name: string, age: number, spec: Record<string, unknown> = {}, metadata = {}): InjectorConfig {
  const object = injectorConfig(name, spec);
  object.metadata = { ...object.metadata, creationTimestamp: `2026-01-0${age}T00:00:00Z`, ...metadata };
  return parseInjectorConfig(object);
}

const custom = (team: string): Record<string, unknown> => ({
  webhook: { selection: 'Custom', namespaceSelector: { matchLabels: { team } }, objectSelector: {} },
});
const logs = {
  webhook: { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } },
};

describe('overlapWinner', () => {
  const mine = config('mine', 2, { revision: 'r' });
  const cases: [what: string, config: InjectorConfig, other: InjectorConfig, wins: boolean][] = [
    ['an older one of the same revision', mine, config('other', 1, { revision: 'r' }), true],
    ['a younger one', mine, config('other', 3, { revision: 'r' }), false],
    ['one of the same age and an earlier name', mine, config('a', 2, { revision: 'r' }), true],
    ['one of the same age and a later name', mine, config('z', 2, { revision: 'r' }), false],
    ['one whose name is the revision', mine, config('r', 1), true],
    ['another revision', mine, config('other', 1), false],
    ['one of another family', mine, config('other', 1, { revision: 'r', ...logs }), false],
    ['one of another operator class', mine, config('other', 1, { revision: 'r', operatorClass: 'x' }), false],
    ['one that is being deleted', mine, config('other', 1, { revision: 'r' }, { deletionTimestamp: 'now' }), false],
    ['itself', mine, config('mine', 1, { revision: 'r' }), false],
    [
      'an older one with the same selectors of its own',
      config('mine', 2, custom('a')),
      config('other', 1, custom('a')),
      true,
    ],
    [
      'an older one with other selectors of its own',
      config('mine', 2, custom('a')),
      config('other', 1, custom('b')),
      false,
    ],
    [
      'an older one of a revision beside selectors of our own',
      config('mine', 2, { ...custom('a'), revision: 'r' }),
      config('other', 1, { revision: 'r' }),
      true,
    ],
    [
      'an older one with selectors of its own beside a revision',
      config('mine', 2, { revision: 'r' }),
      config('other', 1, custom('a')),
      true,
    ],
    [
      'an older one with wider selectors of its own',
      config('mine', 2, custom('a')),
      config('other', 1, { webhook: { selection: 'Custom', objectSelector: {} } }),
      true,
    ],
    [
      'an older one with selectors of its own in another family',
      config('mine', 2, custom('a')),
      config('other', 1, { webhook: { ...logs.webhook, selection: 'Custom', objectSelector: {} } }),
      false,
    ],
    [
      'an older one of a revision whose label our selectors exclude',
      config('mine', 2, {
        webhook: {
          selection: 'Custom',
          objectSelector: { matchExpressions: [{ key: 'istio.io/rev', operator: 'DoesNotExist' }] },
          namespaceSelector: { matchExpressions: [{ key: 'istio.io/rev', operator: 'DoesNotExist' }] },
        },
      }),
      config('other', 1, { revision: 'r' }),
      false,
    ],
    [
      'an older one whose namespaces are excluded from ours',
      config('mine', 2, {
        webhook: { selection: 'Custom', objectSelector: {}, excludedNamespaces: ['team-b'] },
      }),
      config('other', 1, {
        webhook: {
          selection: 'Custom',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-b' } },
        },
      }),
      false,
    ],
  ];
  for (const [what, one, other, wins] of cases) {
    it(`${what} ${wins ? 'wins' : 'does not win'}`, () => {
      assert.equal(overlapWinner(one, [other])?.metadata.name, wins ? other.metadata.name : undefined);
    });
  }

  it('of several the oldest wins', () => {
    const others = [config('b', 1, { revision: 'r' }), config('a', 1, { revision: 'r' })];
    assert.equal(overlapWinner(mine, others)?.metadata.name, 'a');
  });
});
