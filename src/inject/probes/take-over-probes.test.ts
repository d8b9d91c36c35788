import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { findContainer, type Container, type Pod } from '../pod/pod.ts';
import { takeOverProbes } from './take-over-probes.ts';

const settings = { rewriteByDefault: true, statusPort: 15020, statusKey: 'mesh.example/status' };

function podWith(application: object, annotations: Record<string, string> = {}, env: object[] = []): Pod {
  const containers = [
    { name: 'web', ...application },
    { name: 'istio-proxy', env },
  ];
  return normalisePod({ metadata: { annotations }, spec: { containers } }) as Pod;
}

function takeOver(pod: Pod, changes: Partial<typeof settings> = {}): { web: Container; probers: unknown } {
  const result = takeOverProbes(pod, { ...settings, ...changes });
  const web = findContainer(result, 'web');
  assert.ok(web);
  const text = findContainer(result, 'istio-proxy')?.env?.find(({ name }) => name === 'ISTIO_KUBE_APP_PROBERS')?.value;
  return { web, probers: text === undefined ? undefined : JSON.parse(text) };
}

describe('takeOverProbes', () => {
  it('redirects probes of all kinds', () => {
    const { web, probers } = takeOver(
      podWith({
        ports: [{ name: 'http', containerPort: 8080 }],
        readinessProbe: { httpGet: { path: '/r', port: 'http', scheme: 'HTTPS' }, periodSeconds: 5 },
        livenessProbe: { tcpSocket: { port: '9000' }, timeoutSeconds: 3 },
        startupProbe: { grpc: { port: 7000, service: null } },
        lifecycle: { preStop: { httpGet: { path: '/s', port: 8080 } }, postStart: { tcpSocket: { port: 8081 } } },
      }),
    );
    assert.deepEqual(probers, {
      '/app-health/web/readyz': { httpGet: { path: '/r', port: 8080, scheme: 'HTTPS' } },
      '/app-health/web/livez': { tcpSocket: { port: 9000 }, timeoutSeconds: 3 },
      '/app-health/web/startupz': { grpc: { port: 7000, service: null } },
      '/app-lifecycle/web/prestopz': { httpGet: { path: '/s', port: 8080 } },
      '/app-lifecycle/web/poststartz': { tcpSocket: { port: 8081 } },
    });
    assert.deepEqual(web.readinessProbe, {
      httpGet: { path: '/app-health/web/readyz', port: 15020, scheme: 'HTTP' },
      periodSeconds: 5,
    });
    assert.deepEqual(web.livenessProbe, { httpGet: { path: '/app-health/web/livez', port: 15020 }, timeoutSeconds: 3 });
    assert.deepEqual(web.startupProbe, { httpGet: { path: '/app-health/web/startupz', port: 15020 } });
    assert.deepEqual(web.lifecycle, {
      preStop: { httpGet: { path: '/app-lifecycle/web/prestopz', port: 15020 } },
      postStart: { httpGet: { path: '/app-lifecycle/web/poststartz', port: 15020 } },
    });
  });

  it('does not change exec probes', () => {
    const exec = { exec: { command: ['true'] } };
    const { web, probers } = takeOver(podWith({ livenessProbe: exec, lifecycle: { preStop: exec } }));
    assert.equal(probers, undefined);
    assert.deepEqual([web.livenessProbe, web.lifecycle], [exec, { preStop: exec }]);
  });

  it('rewrites probes of the agent’s port or an unknown port, but does not list them as probers', () => {
    const readinessProbe = { httpGet: { path: '/x', port: 15020 } };
    const { web, probers } = takeOver(podWith({ readinessProbe, livenessProbe: { httpGet: { port: 'nowhere' } } }));
    assert.equal(probers, undefined);
    assert.deepEqual(web.livenessProbe, { httpGet: { path: '/app-health/web/livez', port: 15020 } });
  });

  it('lists a probe whose named port is the agent’s port', () => {
    const ports = [
      { name: 'status', containerPort: 1 },
      { name: 'status', containerPort: 15020 },
    ];
    const { probers } = takeOver(podWith({ ports, readinessProbe: { tcpSocket: { port: 'status' } } }));
    assert.deepEqual(probers, { '/app-health/web/readyz': { tcpSocket: { port: 15020 } } });
  });

  it('uses the port in the annotation', () => {
    const pod = podWith({ readinessProbe: { httpGet: { port: 80 } } }, { 'status.sidecar.istio.io/port': '15099' });
    assert.equal(takeOver(pod).web.readinessProbe?.httpGet?.port, 15099);
  });

  const probe = { readinessProbe: { httpGet: { path: '/', port: 80 } } };
  const rows: [name: string, annotation: string | undefined, byDefault: boolean, taken: boolean][] = [
    ['a default of true', undefined, true, true],
    ['a default of false', undefined, false, false],
    ['an annotation of true', 'true', false, true],
    ['an annotation of false', 'false', true, false],
    ['an annotation that is not a boolean', 'maybe', true, true],
  ];
  for (const [name, annotation, rewriteByDefault, taken] of rows) {
    it(`${taken ? 'rewrites' : 'does not rewrite'} probes for ${name}`, () => {
      const own = annotation === undefined ? {} : { 'sidecar.istio.io/rewriteAppHTTPProbers': annotation };
      const pod = podWith(probe, own);
      assert.equal(takeOver(pod, { rewriteByDefault }).probers !== undefined, taken);
    });
  }

  it('does nothing if there is no proxy', () => {
    const pod = normalisePod({ spec: { containers: [{ name: 'web', ...probe }] } }) as Pod;
    assert.equal(takeOverProbes(pod, settings), pod);
  });

  describe('on a pod that was injected before', () => {
    const earlier = '{"/app-health/web/readyz":{"httpGet":{"path":"/first","port":80}}}';
    const annotations = { 'mesh.example/status': '{}' };

    it('keeps earlier probers', () => {
      const pod = podWith({ ...probe, livenessProbe: { tcpSocket: { port: 81 } } }, annotations, [
        { name: 'ISTIO_KUBE_APP_PROBERS', value: earlier },
        { name: 'LAST' },
      ]);
      assert.deepEqual(takeOver(pod).probers, {
        '/app-health/web/livez': { tcpSocket: { port: 81 } },
        '/app-health/web/readyz': { httpGet: { path: '/first', port: 80 } },
      });
    });

    it('keeps probers that it cannot parse', () => {
      for (const value of ['[1]', '{"/a":1}']) {
        const pod = podWith(probe, annotations, [{ name: 'ISTIO_KUBE_APP_PROBERS', value }]);
        assert.deepEqual(takeOver(pod).probers, JSON.parse(value));
      }
    });

    it('parses earlier probers as Go does', () => {
      const value = '{"/a":{"HTTPGet":{"path":"/<"},"timeoutSeconds":0,"more":1},"/b":null}';
      const pod = podWith({}, annotations, [{ name: 'ISTIO_KUBE_APP_PROBERS', value }]);
      assert.deepEqual(takeOver(pod).probers, JSON.parse(value));
      const both = takeOver(podWith(probe, annotations, [{ name: 'ISTIO_KUBE_APP_PROBERS', value }])).probers;
      const own = { '/app-health/web/readyz': { httpGet: { path: '/', port: 80 } } };
      assert.deepEqual(both, { '/a': { httpGet: { path: '/<', port: 0 } }, ...own, '/b': null });
    });

    it('adds probers if there are none', () => {
      assert.ok(takeOver(podWith(probe, annotations)).probers);
    });
  });
});
