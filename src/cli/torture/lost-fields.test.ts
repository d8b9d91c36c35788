import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lostFields } from './lost-fields.ts';

describe('lostFields', () => {
  const pod = (...containers: object[]) => ({ spec: { containers } });
  const http = { httpGet: { path: '/a', port: 1 }, periodSeconds: 7 };
  const rows: [name: string, before: unknown, after: unknown, lost: string[]][] = [
    ['an addition', pod({ name: 'a' }), pod({ name: 'b' }, { name: 'a', env: [] }), []],
    ['a container that is gone', pod({ name: 'a' }), pod({ name: 'b' }), ['spec.containers[a]']],
    ['a field that is gone', pod({ name: 'a', image: 'x' }), pod({ name: 'a' }), ['spec.containers[a].image']],
    ['another value', pod({ name: 'a', stdin: true }), pod({ name: 'a', stdin: false }), ['spec.containers[a].stdin']],
    [
      'another order',
      pod({ name: 'a' }, { name: 'b' }),
      pod({ name: 'b' }, { name: 'a' }),
      ['spec.containers[b] (its order)'],
    ],
    [
      'a replaced handler',
      pod({ name: 'a', livenessProbe: http }),
      pod({ name: 'a', livenessProbe: { ...http, httpGet: { port: 2 } } }),
      [],
    ],
    ['another kind of handler', { readinessProbe: http }, { readinessProbe: { exec: {}, periodSeconds: 7 } }, []],
    ['the times of a probe', { startupProbe: http }, { startupProbe: { httpGet: {} } }, ['startupProbe.periodSeconds']],
    ['a probe without a handler', { preStop: http }, { preStop: { periodSeconds: 7 } }, ['preStop']],
    [
      'a mount',
      { volumeMounts: [{ mountPath: '/a', name: 'n' }] },
      { volumeMounts: [{ mountPath: '/b', name: 'n' }] },
      ['volumeMounts[n].mountPath'],
    ],
    ['an element without a name', { args: ['a', 'b'] }, { args: ['a'] }, ['args[1]']],
    ['a list that is gone', { args: ['a'] }, {}, ['args[0]']],
    ['a map that is gone', { labels: { a: 'b' } }, { labels: 'a' }, ['labels']],
  ];
  for (const [name, before, after, lost] of rows) {
    it(`finds ${name}: ${lost.join(', ') || 'no loss'}`, () => {
      assert.deepEqual(lostFields(before, after), lost);
    });
  }

  it('finds nothing in an equal value, and something in any value that misses a member', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
        const key = Object.keys(value)[0] ?? '';
        assert.deepEqual(lostFields(value, structuredClone(value)), []);
        const others = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
        const empty = Array.isArray(value[key]) && value[key].length === 0;
        assert.equal(lostFields(value, others).length > 0, !empty);
      }),
    );
  });
});
