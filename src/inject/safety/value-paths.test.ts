import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../patch/json-value.ts';
import { describePath } from './field-path.ts';
import { forbiddenDifference, structuralDifference, type Mode } from './value-paths.ts';

const own = new Set(['TEAM', 'OTHER', 'gpu', '--level']);
const withContainer = (members: JsonObject): JsonObject => ({ spec: { containers: [{ name: 'c', ...members }] } });
const pathOf = (left: JsonObject, right: JsonObject, mode: Mode): string | undefined => {
  const { path } = forbiddenDifference(left, right, mode, own);
  return path && describePath(path);
};

describe('value paths', () => {
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
    it(`allows ${title} to differ`, () => {
      assert.equal(pathOf(left, right, 'text'), undefined);
      assert.equal(pathOf(left, right, 'presence'), undefined);
    });
  }

  const probe = { httpGet: { port: 80, httpHeaders: [{ name: 'a', value: 'b' }] } };
  const optionalParts: [title: string, left: JsonObject, right: JsonObject][] = [
    ['labels', { metadata: { labels: { a: 'x' } }, spec: {} }, { spec: {} }],
    both('a variable', { env: [{ name: 'TEAM', value: 'x' }] }, { env: null }),
    both('a request', { resources: { requests: { cpu: 1 } } }, {}),
    both('a port', { ports: [{ name: 'a', containerPort: 1 }] }, { ports: [] }),
    both('a probe', { startupProbe: probe }, {}),
    both('a flag', { args: ['run', '--level=x'] }, { args: ['run'] }),
  ];
  for (const [title, left, right] of optionalParts) {
    it(`allows ${title} to appear in mode presence, but not in mode text`, () => {
      assert.deepEqual([pathOf(left, right, 'presence'), pathOf(right, left, 'presence')], [undefined, undefined]);
      assert.notEqual(pathOf(left, right, 'text'), undefined);
      assert.notEqual(pathOf(right, left, 'text'), undefined);
    });
  }

  const inContainer = (path: string, left: JsonObject, right: JsonObject = {}): [string, JsonObject, JsonObject] =>
    both(`spec.containers[c].${path}`, left, right);
  const fixed: [path: string, left: JsonObject, right: JsonObject][] = [
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
  for (const [path, left, right] of fixed) {
    it(`treats ${path} as fixed: ${JSON.stringify(left)}`, () => {
      for (const [one, other] of [
        [left, right],
        [right, left],
      ] as const) {
        const found = pathOf(one, other, 'presence');
        assert.ok(found?.startsWith(path.replace(/\.\w+$/, '')), String(found));
        assert.notEqual(pathOf(one, other, 'text'), undefined);
      }
    });
  }

  it('requires the same order of containers and variables', () => {
    const containers = (...names: string[]): JsonObject => ({
      spec: { initContainers: names.map((name) => ({ name })) },
    });
    assert.notEqual(pathOf(containers('a', 'b'), containers('b', 'a'), 'presence'), undefined);
    const env = (...names: string[]): JsonObject =>
      withContainer({ env: names.map((name) => ({ name, value: name })) });
    assert.notEqual(pathOf(env('TEAM', 'OTHER'), env('OTHER', 'TEAM'), 'presence'), undefined);
    assert.equal(pathOf(env('TEAM', 'OTHER', 'TEAM'), env('TEAM', 'OTHER'), 'presence'), undefined);
  });

  it('rejects an empty value in mode text', () => {
    for (const value of ['', null]) {
      const left = withContainer({ env: [{ name: 'TEAM', value }] });
      const right = withContainer({ env: [{ name: 'TEAM', value: 'x_' }] });
      assert.equal(pathOf(left, right, 'text'), 'spec.containers[c].env[TEAM].value');
      assert.equal(pathOf(left, right, 'presence'), undefined);
    }
  });

  it('reports whether a named element appeared or vanished', () => {
    const namedBy = (left: JsonObject, right: JsonObject = {}): boolean =>
      forbiddenDifference(withContainer(left), withContainer(right), 'presence', own).named;
    assert.equal(namedBy({ args: ['--level=a'] }, { args: ['--level=b'] }), false);
    assert.equal(namedBy({ args: ['--level=a'] }), true);
    assert.equal(namedBy({ env: [{ name: 'TEAM' }] }), true);
    assert.equal(namedBy({ resources: { limits: { cpu: 1 } } }), false);
    assert.equal(namedBy({ resources: { limits: { gpu: 1 } } }), true);
  });

  it('structuralDifference allows any leaf to differ, but nothing else', () => {
    const image = (text: string): JsonObject => withContainer({ image: text, volumeMounts: [{ name: text }] });
    assert.equal(structuralDifference(image('a'), image('b')).path, undefined);
    assert.notEqual(structuralDifference(image('a'), withContainer({ image: 'a' })).path, undefined);
    assert.notEqual(structuralDifference({ spec: { a: [1] } }, { spec: { a: [1, 2] } }).path, undefined);
  });

  it('finds no difference between equal trees, and finds every added leaf', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('tree')), fc.dictionary(fc.string(), tie('tree'))),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), fc.constantFrom<Mode>('presence', 'text'), (part, mode) => {
        const whole: JsonObject = { ...part, spec: { hostname: part } };
        assert.equal(pathOf(whole, structuredClone(whole), mode), undefined);
        const path = pathOf(whole, { ...whole, spec: { hostname: { ...part, other: 'x', more: 1 } } }, mode);
        assert.notEqual(path, undefined);
      }),
    );
  });
});
