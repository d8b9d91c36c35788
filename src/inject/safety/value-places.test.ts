import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../patch/json-value.ts';
import { describePlace } from './place.ts';
import { forbiddenDifference, structuralDifference, type Mode } from './value-places.ts';

const own = new Set(['TEAM', 'OTHER', 'gpu', '--level']);
const withContainer = (members: JsonObject): JsonObject => ({ spec: { containers: [{ name: 'c', ...members }] } });
const placeOf = (left: JsonObject, right: JsonObject, mode: Mode): string | undefined => {
  const { place } = forbiddenDifference(left, right, mode, own);
  return place && describePlace(place);
};

describe('the places that may hold an author’s text', () => {
  const both = (title: string, left: JsonObject, right: JsonObject): [string, JsonObject, JsonObject] => [
    title,
    withContainer(left),
    withContainer(right),
  ];
  const free: [title: string, left: JsonObject, right: JsonObject][] = [
    ['labels', { metadata: { labels: { a: 'x' } } }, { metadata: { labels: { a: 'y' } } }],
    ['annotations', { metadata: { annotations: { a: 'x' } } }, { metadata: { annotations: { a: 'y' } } }],
    both('variables', { env: [{ name: 'TEAM', value: 'x' }] }, { env: [{ name: 'TEAM', value: 'y' }] }),
    both('requests', { resources: { requests: { cpu: 1 } } }, { resources: { requests: { cpu: '2' } } }),
    both('limits', { resources: { limits: { cpu: 1 } } }, { resources: { limits: { cpu: '2' } } }),
    both('ports', { ports: [{ containerPort: 1 }] }, { ports: [{ containerPort: 2 }] }),
    both('probes', { livenessProbe: { httpGet: { path: '/a' } } }, { livenessProbe: { httpGet: { path: '/b' } } }),
    both('values of flags', { args: ['--level=x'] }, { args: ['--level=y'] }),
  ];
  for (const [title, left, right] of free) {
    it(`${title} may differ`, () => {
      assert.equal(placeOf(left, right, 'text'), undefined);
      assert.equal(placeOf(left, right, 'presence'), undefined);
    });
  }

  const probe = { httpGet: { port: 80, httpHeaders: [{ name: 'a', value: 'b' }] } };
  const comingAndGoing: [title: string, left: JsonObject, right: JsonObject][] = [
    ['labels', { metadata: { labels: { a: 'x' } }, spec: {} }, { spec: {} }],
    both('a variable', { env: [{ name: 'TEAM', value: 'x' }] }, { env: null }),
    both('a request', { resources: { requests: { cpu: 1 } } }, {}),
    both('a port', { ports: [{ name: 'a', containerPort: 1 }] }, { ports: [] }),
    both('a probe', { startupProbe: probe }, {}),
    both('a flag', { args: ['run', '--level=x'] }, { args: ['run'] }),
  ];
  for (const [title, left, right] of comingAndGoing) {
    it(`${title} may come and go with a text, but not within it`, () => {
      assert.deepEqual([placeOf(left, right, 'presence'), placeOf(right, left, 'presence')], [undefined, undefined]);
      assert.notEqual(placeOf(left, right, 'text'), undefined);
      assert.notEqual(placeOf(right, left, 'text'), undefined);
    });
  }

  const inContainer = (place: string, left: JsonObject, right: JsonObject = {}): [string, JsonObject, JsonObject] =>
    both(`spec.containers[c].${place}`, left, right);
  const fixed: [place: string, left: JsonObject, right: JsonObject][] = [
    ['spec', { spec: {} }, {}],
    ['spec', { spec: {} }, { spec: null }],
    ['metadata', { metadata: {}, spec: {} }, { metadata: null, spec: {} }],
    ['metadata.finalizers', { metadata: { finalizers: [] } }, { metadata: {} }],
    ['spec.volumes[v]', { spec: { volumes: [{ name: 'v' }] } }, { spec: {} }],
    [
      'spec.volumes[v].emptyDir',
      { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      { spec: { volumes: [{ name: 'v' }] } },
    ],
    inContainer('image', { image: 'a' }, { image: 'b' }),
    inContainer('command', { command: ['a'] }, { command: ['b'] }),
    inContainer('securityContext', { securityContext: null }, { securityContext: {} }),
    inContainer('securityContext', { securityContext: {} }),
    inContainer('env[EVIL]', { env: [{ name: 'EVIL', value: 'x' }] }),
    inContainer('env[TEAM]', { env: [{ name: 'TEAM', valueFrom: { fieldRef: {} } }] }),
    inContainer('env[TEAM].valueFrom', { env: [{ name: 'TEAM', valueFrom: { a: 1 } }] }, { env: [{ name: 'TEAM' }] }),
    inContainer('resources.requests.evil', { resources: { requests: { evil: 1 } } }),
    inContainer('resources.claims', { resources: { claims: [1] } }),
    inContainer('ports[a]', { ports: [{ name: 'a', hostPort: 1 }] }),
    inContainer('ports[a].hostPort', { ports: [{ name: 'a', hostPort: 1 }] }, { ports: [{ name: 'a' }] }),
    inContainer('livenessProbe.exec', { livenessProbe: { exec: { command: ['a'] } } }),
    inContainer(
      'livenessProbe.httpGet.host',
      { livenessProbe: { httpGet: { host: 'a' } } },
      { livenessProbe: { httpGet: {} } },
    ),
    inContainer('args', { args: ['-c', 'a'] }, { args: ['-c', 'b'] }),
    inContainer('args', { args: 'a' }),
    inContainer('lifecycle', { lifecycle: {} }),
  ];
  for (const [place, left, right] of fixed) {
    it(`${place} may not differ: ${JSON.stringify(left)}`, () => {
      for (const [one, other] of [
        [left, right],
        [right, left],
      ] as const) {
        const found = placeOf(one, other, 'presence');
        assert.ok(found?.startsWith(place.replace(/\.\w+$/, '')), String(found));
        assert.notEqual(placeOf(one, other, 'text'), undefined);
      }
    });
  }

  it('containers keep their order, and so do variables', () => {
    const containers = (...names: string[]): JsonObject => ({
      spec: { initContainers: names.map((name) => ({ name })) },
    });
    assert.notEqual(placeOf(containers('a', 'b'), containers('b', 'a'), 'presence'), undefined);
    const env = (...names: string[]): JsonObject =>
      withContainer({ env: names.map((name) => ({ name, value: name })) });
    assert.notEqual(placeOf(env('TEAM', 'OTHER'), env('OTHER', 'TEAM'), 'presence'), undefined);
    assert.equal(placeOf(env('TEAM', 'OTHER', 'TEAM'), env('TEAM', 'OTHER'), 'presence'), undefined);
  });

  it('a value that YAML takes for nothing is no text', () => {
    for (const value of ['', null]) {
      const left = withContainer({ env: [{ name: 'TEAM', value }] });
      const right = withContainer({ env: [{ name: 'TEAM', value: 'x_' }] });
      assert.equal(placeOf(left, right, 'text'), 'spec.containers[c].env[TEAM].value');
      assert.equal(placeOf(left, right, 'presence'), undefined);
    }
  });

  it('says whether something with a name has come or gone', () => {
    const namedBy = (left: JsonObject, right: JsonObject = {}): boolean =>
      forbiddenDifference(withContainer(left), withContainer(right), 'presence', own).named;
    assert.equal(namedBy({ args: ['--level=a'] }, { args: ['--level=b'] }), false);
    assert.equal(namedBy({ args: ['--level=a'] }), true);
    assert.equal(namedBy({ env: [{ name: 'TEAM' }] }), true);
    assert.equal(namedBy({ resources: { limits: { cpu: 1 } } }), false);
    assert.equal(namedBy({ resources: { limits: { gpu: 1 } } }), true);
  });

  it('what is allowed may stand in any leaf and nowhere else', () => {
    const image = (text: string): JsonObject => withContainer({ image: text, volumeMounts: [{ name: text }] });
    assert.equal(structuralDifference(image('a'), image('b')).place, undefined);
    assert.notEqual(structuralDifference(image('a'), withContainer({ image: 'a' })).place, undefined);
    assert.notEqual(structuralDifference({ spec: { a: [1] } }, { spec: { a: [1, 2] } }).place, undefined);
  });

  it('any tree is the same as itself, and another leaf outside of the list is seen', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), fc.constantFrom<Mode>('presence', 'text'), (part, mode) => {
        const whole: JsonObject = { ...part, spec: { hostname: part } };
        assert.equal(placeOf(whole, structuredClone(whole), mode), undefined);
        const place = placeOf(whole, { ...whole, spec: { hostname: { ...part, other: 'x', more: 1 } } }, mode);
        assert.notEqual(place, undefined);
      }),
    );
  });
});
