import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { familyOf } from '../configuration/family.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { containersOf, findContainer, initContainersOf, type Pod } from '../pod/pod.ts';
import { setClusterEnvironment, setMetadata } from './environment-and-metadata.ts';
import { adjustInitContainerUser, orderContainers } from './proxy-containers.ts';
import { isMergeEnabled, mergePrometheus, announceSecurePort } from './prometheus-merge.ts';

interface PodParts {
  readonly annotations?: Record<string, string>;
  readonly containers?: object[];
  readonly initContainers?: object[];
}

function podOf({ annotations = {}, containers = [{ name: 'istio-proxy' }], initContainers = [] }: PodParts): Pod {
  return normalisePod({ metadata: { annotations }, spec: { containers, initContainers } }) as Pod;
}

const named = (...names: string[]): object[] => names.map((name) => ({ name }));

describe('setClusterEnvironment', () => {
  it('replaces the template’s variables and appends the new variables in name order', () => {
    const before = { B: 'old', X: 'x' };
    const env = Object.entries(before).map(([name, value]) => ({ name, value }));
    const pod = podOf({ containers: [{ name: 'istio-proxy', env }] });
    const result = setClusterEnvironment(pod, new Map(Object.entries({ B: 'b', A: '' })));
    assert.deepEqual(findContainer(result, 'istio-proxy')?.env, [
      { name: 'X', value: 'x' },
      { name: 'A' },
      { name: 'B', value: 'b' },
    ]);
  });

  it('does nothing if there is no proxy, and changes only the first use of a shared container', () => {
    const pod = podOf({ containers: named('web') });
    assert.equal(setClusterEnvironment(pod, new Map([['A', 'a']])), pod);
    const shared = [{ name: 'istio-proxy', resources: {} }];
    const { spec } = setClusterEnvironment(podOf({ containers: shared, initContainers: shared }), new Map([['A', '']]));
    assert.deepEqual([spec.containers, spec.initContainers], [[{ ...shared[0], env: [{ name: 'A' }] }], shared]);
  });
});

describe('mergePrometheus', () => {
  const merged = {
    'prometheus.io/port': '15020',
    'prometheus.io/path': '/stats/prometheus',
    'prometheus.io/scrape': 'true',
  };
  const variableOf = (pod: Pod): unknown => {
    const value = findContainer(pod, 'istio-proxy')?.env?.find(
      ({ name }) => name === 'ISTIO_PROMETHEUS_ANNOTATIONS',
    )?.value;
    return value === undefined ? undefined : JSON.parse(value);
  };

  const kept = { ...merged, 'prometheus.io/path': '/kept' };
  const unscraped = { prometheus_io_scrape: 'false' };
  const unmerged = { 'prometheus.istio.io/merge-metrics': 'false' };
  const targetsKey = 'prometheus.istio.io/scrape-targets';
  const first = { port: '8080', path: '/a' };
  const targets = [first, { port: '9090', path: '/metrics' }];
  const none = { scrape: '', path: '', port: '' };
  const usual = { 'prometheus.io/port': '80', 'prometheus.io/path': '/m' };
  const unusual = { 'prometheus-io/scrape': 'T', 'prometheus.io.port': '90' };
  type Strings = Record<string, string>;
  const rows: [name: string, annotations: Strings, after: Strings, variable: unknown][] = [
    ['no annotations', {}, merged, undefined],
    ['the usual spelling', usual, merged, { ...none, path: '/m', port: '80' }],
    ['other spellings', unusual, merged, { ...none, scrape: 'T', port: '90' }],
    ['an opt-out of scraping', unscraped, unscraped, undefined],
    ['a scrape value that is not a boolean', { 'prometheus.io/scrape': 'maybe' }, merged, { ...none, scrape: 'maybe' }],
    ['an opt-out of merging', unmerged, unmerged, undefined],
    ['an earlier injection', kept, kept, undefined],
    ['several targets', { [targetsKey]: '8080:/a, 9090' }, merged, { ...none, ...first, targets }],
    [
      'targets next to an invalid port',
      { [targetsKey]: '8080:/a, 9090', 'prometheus.io/port': 'x' },
      merged,
      { ...none, ...first, targets },
    ],
    [
      'targets in another spelling',
      { prometheus_istio_io_scrape_targets: '8080:/a,9090' },
      merged,
      { ...none, ...first, targets },
    ],
    ['targets without a port', { [targetsKey]: ':/a' }, merged, undefined],
  ];
  for (const [name, annotations, after, variable] of rows) {
    it(`handles ${name}`, () => {
      const pod = mergePrometheus(podOf({ annotations }), 15020, true);
      assert.deepEqual(pod.metadata.annotations ?? {}, after);
      assert.deepEqual(variableOf(pod), variable);
    });
  }

  const portKey = 'prometheus.io/port';
  const refused: [annotation: string, value: string, problem: string][] = [
    [
      portKey,
      '15090',
      'configuration: port 15090 is reserved for Istio (Envoy Prometheus (already merged)) and cannot be scraped',
    ],
    [portKey, '015020', 'configuration: port 015020 conflicts with agent port'],
    [portKey, 'http', 'configuration: invalid port "http"'],
    [portKey, '\u2028', 'configuration: invalid port "\\u2028"'],
    [portKey, '70000', 'configuration: invalid port "70000"'],
    [
      targetsKey,
      '80:/a,15000:/b',
      'targets: target port 15000 is reserved for Istio (Envoy admin) and cannot be scraped',
    ],
    [targetsKey, '15020', 'targets: target port 15020 conflicts with agent port'],
    [targetsKey, 'x:/a', 'targets: invalid target port "x"'],
  ];
  for (const [annotation, value, problem] of refused) {
    it(`rejects port ${JSON.stringify(value)} with and without a proxy`, () => {
      for (const containers of [named('istio-proxy'), named('web')]) {
        const pod = podOf({ annotations: { [annotation]: value }, containers });
        assert.throws(() => mergePrometheus(pod, 15020, true), {
          reason: 'InvalidPrometheusConfiguration',
          message: `failed to process pod: invalid prometheus scrape ${problem}`,
        });
      }
    });
  }

  it('reads the pod’s annotation, then the mesh config, and defaults to true', () => {
    assert.equal(isMergeEnabled(podOf({}), undefined), true);
    assert.equal(isMergeEnabled(podOf({}), false), false);
    assert.equal(isMergeEnabled(podOf({ annotations: { 'prometheus.istio.io/merge-metrics': 'true' } }), false), true);
  });
});

describe('announceSecurePort', () => {
  const key = 'prometheus.istio.io/secure-port';
  const rows: [name: string, values: (string | undefined)[], annotations: Record<string, string>, port?: string][] = [
    ['the first non-zero port', [undefined, '0', '15092', '15093'], {}, '15092'],
    ['no port', ['0'], {}],
    ['the pod’s own annotation', ['15092'], { [key]: '1' }, '1'],
    ['the pod’s own annotation in another spelling', ['15092'], { 'prometheus-istio.io/secure_port': '1' }],
  ];
  for (const [title, values, annotations, port] of rows) {
    it(`uses ${title}`, () => {
      const env = values.map((value) => ({ name: 'ENVOY_SECURE_MERGED_METRICS_PORT', value }));
      const pod = podOf({ annotations, containers: [{ name: 'istio-proxy', env }] });
      assert.equal(announceSecurePort(pod).metadata.annotations?.[key], port);
    });
  }
});

describe('orderContainers', () => {
  const namesOf = (pod: Pod): string[] =>
    [containersOf(pod), initContainersOf(pod)].map((list) => list.map(({ name }) => name).join(' '));

  const orders: [name: string, hold: boolean, before: string, after: string][] = [
    ['the proxy last', false, 'istio-proxy web', 'web istio-proxy'],
    ['the proxy first if the proxy holds the application', true, 'web istio-proxy', 'istio-proxy web'],
    ['containers in their own order if there is no proxy', true, 'b a', 'b a'],
  ];
  for (const [name, hold, before, after] of orders) {
    it(`puts ${name}`, () => {
      const pod = orderContainers(podOf({ containers: named(...before.split(' ')) }), hold);
      assert.deepEqual(namesOf(pod), [after, '']);
    });
  }

  /** Names without the prefix `istio-`; `dump` stands for `enable-core-dump`. */
  const rows: [name: string, before: string, after: string][] = [
    ['the network setup last if no proxy is native', 'dump init own validation', 'validation own init dump'],
    ['the network setup before a native proxy', 'own validation dump proxy init', 'init validation proxy dump own'],
    ['each name in the list once', 'a proxy own proxy init', 'init proxy a own'],
  ];
  const full = (names: string): string =>
    names.replaceAll(/proxy|init|validation/g, 'istio-$&').replace('dump', 'enable-core-dump');
  for (const [name, before, after] of rows) {
    it(`puts ${name}`, () => {
      const initContainers = named(...full(before).split(' '));
      const pod = orderContainers(podOf({ containers: named('web'), initContainers }), false);
      assert.deepEqual(namesOf(pod), ['web', full(after)]);
    });
  }
});

describe('adjustInitContainerUser', () => {
  const original = (securityContext: object): Pod => podOf({ containers: [{ name: 'istio-proxy', securityContext }] });
  const setup = { name: 'istio-init', args: ['-p', '1', '-u', '1337'] };
  const proxy = { name: 'istio-proxy', securityContext: { runAsUser: 1337 } };

  it('sets the proxy’s user in the arguments of istio-init', () => {
    const before = podOf({ containers: [proxy], initContainers: [setup] });
    const pod = adjustInitContainerUser(before, original({ runAsUser: 5 }), 'REDIRECT');
    assert.deepEqual(findContainer(pod, 'istio-init')?.args, ['-p', '1', '-u', '5']);
  });

  it('runs the validation as the proxy’s user and group', () => {
    const before = podOf({ containers: [proxy], initContainers: [{ ...setup, name: 'istio-validation' }] });
    const user = { runAsUser: 5, runAsGroup: 6 };
    const pod = adjustInitContainerUser(before, original(user), undefined);
    assert.deepEqual(findContainer(pod, 'istio-validation')?.securityContext, user);
  });

  it('runs the proxy as root in mode TPROXY', () => {
    for (const [mode, annotations] of [
      ['TPROXY', {}],
      ['REDIRECT', { 'sidecar.istio.io/interceptionMode': 'TPROXY' }],
    ] as const) {
      const before = podOf({ annotations, containers: [proxy], initContainers: [setup] });
      const pod = adjustInitContainerUser(before, original({ runAsUser: 5 }), mode);
      assert.equal(findContainer(pod, 'istio-proxy')?.securityContext?.runAsUser, 0);
      assert.deepEqual(findContainer(pod, 'istio-init')?.args?.at(-1), '5');
    }
  });

  it('does not change the arguments for user 0 or if -u has no value', () => {
    for (const [user, args] of [
      [0, ['-u', '1337']],
      [5, ['-u']],
      [5, ['-p']],
    ] as const) {
      const pod = podOf({ containers: [proxy], initContainers: [{ name: 'istio-init', args }] });
      assert.equal(adjustInitContainerUser(pod, original({ runAsUser: user }), undefined), pod);
    }
  });

  it('does nothing if the user and group, istio-init or the proxy is missing', () => {
    const pod = podOf({ containers: [proxy] });
    assert.equal(adjustInitContainerUser(pod, original({ privileged: true }), undefined), pod);
    assert.equal(adjustInitContainerUser(pod, original({ runAsUser: 5 }), undefined), pod);
    const withoutProxy = podOf({ containers: named('web'), initContainers: [setup] });
    assert.equal(adjustInitContainerUser(withoutProxy, original({ runAsUser: 5 }), 'TPROXY'), withoutProxy);
  });
});

describe('setMetadata', () => {
  const templatePod = podOf({ containers: named('c') });
  const settings = { settings: { revision: 'r' }, injectedAnnotations: new Map([['extra', '1']]) };

  it('writes the status, the network and the configured annotations', () => {
    const family = familyOf(istioKeys, []);
    const pod = setMetadata(podOf({ annotations: { own: '1' } }), templatePod, 'net-1', { ...settings, family });
    assert.deepEqual(Object.keys(pod.metadata.annotations ?? {}), ['own', 'sidecar.istio.io/status', 'extra']);
    assert.deepEqual(pod.metadata.labels, { 'topology.istio.io/network': 'net-1' });
  });

  it('writes the revision annotation of another family', () => {
    const keys = { ...istioKeys, revision: 'logs.example/rev', status: 'logs.example/status' };
    const pod = setMetadata(podOf({}), templatePod, undefined, { ...settings, family: familyOf(keys, []) });
    assert.equal(pod.metadata.annotations?.['logs.example/rev'], 'r');
    assert.ok(pod.metadata.annotations['logs.example/status']);
    assert.equal(pod.metadata.labels, undefined);
  });
});
