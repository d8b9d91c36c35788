import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../patch/json-value.ts';
import { typicalPod, typicalPods } from '../rehearsal/typical-pods.ts';
import { findInvalidFields, introducedFields, refusalOf } from './find-invalid-fields.ts';

const image = 'registry.example.com/a:1';
/** Returns a pod with one container with these fields. */
const podWith = (container: JsonObject, spec: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: 'app', image, ...container }], ...spec },
});
const messagesOf = (pod: JsonObject): string[] => findInvalidFields(pod).map(({ message }) => message);
const at = 'spec.containers[0]';
/** A container with one port that only the node's network shares, and one that may differ there. */
const onNode = (name: string, hostPort: number): JsonObject => ({
  ...{ name, image },
  ports: [{ containerPort: 8, hostPort }, { containerPort: 80 }],
});
const exec = { command: ['a'] };
const labels = { 'a/b': 'c' };

describe('findInvalidFields', () => {
  const label = 'must be at most 63 lowercase letters, digits and inner "-"';
  const native = (container: JsonObject): JsonObject =>
    podWith({}, { initContainers: [{ name: 'init', image, ...container }] });
  const cases: [title: string, pod: JsonObject, ...messages: string[]][] = [
    ['no spec', {}, 'spec.containers: Required value'],
    ['a name with an underscore', podWith({ name: 'Proxy_1' }), `${at}.name: Invalid value: "Proxy_1": ${label}`],
    ['no image', podWith({ image: '' }), `${at}.image: Required value`],
    [
      'limits below requests',
      podWith({ resources: { requests: { cpu: '1001m' }, limits: { cpu: 1 } } }),
      `${at}.resources.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1`,
    ],
    [
      'a port beyond the range',
      podWith({ ports: [{ containerPort: 99_999 }] }),
      `${at}.ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535`,
    ],
    [
      "another port in the node's network, and a port of two containers",
      podWith({}, { hostNetwork: true, containers: [8, 9].map((hostPort) => onNode(`c${hostPort}`, hostPort)) }),
      'spec.containers[1].ports[0].hostPort: Invalid value: 9: must match `containerPort` with hostNetwork',
      'spec.containers[1].ports[1].hostPort: Duplicate value: "TCP//80"',
    ],
    [
      'a negative size, a node before the gates are gone, and an unknown system',
      podWith(
        {},
        {
          volumes: [{ name: 'a', emptyDir: { sizeLimit: '-1' } }],
          nodeName: 'a',
          schedulingGates: [{ name: 'a b' }],
          os: { name: 'Linux' },
        },
      ),
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
      'spec.volumes[0].emptyDir.sizeLimit: Forbidden: must not be negative',
      'spec.os.name: Unsupported value: "Linux": supported values: "linux", "windows"',
      'spec.schedulingGates[0].name: Invalid value: "a b": must be at most 63 letters, digits and inner "-", "_" and ".", also after a DNS name and "/"',
    ],
    [
      'a path that is mounted twice, and a volume that does not exist',
      podWith({ volumeMounts: [1, 2].map(() => ({ name: 'x', mountPath: '/a' })) }),
      `${at}.volumeMounts[0].name: Not found: "x"`,
      `${at}.volumeMounts[1].name: Not found: "x"`,
      `${at}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique`,
    ],
    [
      'a policy in the wrong case',
      native({ restartPolicy: 'always' }),
      'spec.initContainers[0].restartPolicy: Unsupported value: "always": supported values: "Always", "OnFailure", "Never"',
    ],
    [
      'value and valueFrom',
      podWith({ env: [{ name: 'A', value: 'b', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
      `${at}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
    ],
    ['a name that the app has', native({ name: 'app' }), 'spec.initContainers[0].name: Duplicate value: "app"'],
    [
      'a container that also is a native sidecar, once without image (istio/istio#56455)',
      podWith({ image: undefined }, { initContainers: [{ name: 'app', image, restartPolicy: 'Always' }] }),
      'spec.initContainers[0].name: Duplicate value: "app"',
      `${at}.image: Required value`,
    ],
    [
      'a probe of an init container',
      native({ startupProbe: { exec } }),
      'spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
    [
      'a port as a text',
      podWith({ readinessProbe: { httpGet: { port: '15021' } } }),
      `${at}.readinessProbe.httpGet.port: Invalid value: "15021": must be at most 15 a-z, 0-9 and single inner "-", with a-z`,
    ],
    [
      'two handlers',
      podWith({ livenessProbe: { exec, grpc: { port: 1 } } }),
      `${at}.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type`,
    ],
    [
      'two sources of a volume',
      podWith({}, { volumes: [{ name: 'a', configMap: { name: 'a' }, emptyDir: {} }] }),
      'spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type',
    ],
    [
      'requests that exceed those of the pod',
      podWith({ resources: { limits: { cpu: '0.3' } } }, { resources: { requests: { cpu: '200m' } } }),
      'spec.resources.requests[cpu]: Invalid value: "200m": must cover the requests of the containers',
    ],
  ];
  for (const [title, pod, ...messages] of cases)
    it(`finds ${title}`, () => {
      assert.deepEqual(messagesOf(pod).sort(), messages.sort());
    });

  const volume = (source: JsonObject): JsonObject => podWith({}, { volumes: [{ name: 'a', ...source }] });
  const variable = (valueFrom: JsonObject): JsonObject => podWith({ env: [{ name: 'A', valueFrom }] });
  const toleration = (fields: JsonObject): JsonObject => podWith({}, { tolerations: [fields] });
  const limits = (amounts: JsonObject, requests: JsonObject = {}): JsonObject =>
    podWith({ resources: { limits: amounts, requests } });
  const mounting = (...mounts: JsonObject[]): JsonObject =>
    podWith({ volumeMounts: mounts.map((each) => ({ name: 'a', ...each })) }, { volumes: [{ name: 'a' }] });
  const item = { path: 'x', fieldRef: { fieldPath: 'metadata.name' } };
  const selector = (fieldPath: string): JsonObject => variable({ fieldRef: { fieldPath } });
  const probe = { exec };
  const claims = [{ name: 'gpu' }];
  const places: [pod: JsonObject, ...places: string[]][] = [
    [podWith({}, { dnsPolicy: 'None' }), 'spec.dnsConfig: Required'],
    [podWith({ readinessProbe: { ...probe, terminationGracePeriodSeconds: 1 } }), `${at}.readinessProbe.termination`],
    [podWith({ livenessProbe: { ...probe, successThreshold: 2 } }), `${at}.livenessProbe.successThreshold: Invalid`],
    [podWith({ livenessProbe: {} }), `${at}.livenessProbe: Required`],
    [
      podWith({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
      `${at}.restartPolicy: Required`,
    ],
    [
      podWith(
        { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
        { restartPolicy: 'Never' },
      ),
      `${at}.resizePolicy: Invalid`,
    ],
    [
      podWith({ ports: [1, 2].map((containerPort) => ({ name: 'http', containerPort })) }),
      `${at}.ports[1].name: Duplicate`,
    ],
    [variable({}), `${at}.env[0].valueFrom: Invalid`],
    [podWith({ envFrom: [{}] }), `${at}.envFrom[0]: Invalid`],
    [selector('spec.image'), `${at}.env[0].valueFrom.fieldRef.fieldPath: Invalid`],
    [selector("metadata.labels['a b']"), `${at}.env[0].valueFrom.fieldRef: Invalid`],
    [selector("metadata.annotations['A/b']")],
    [podWith({}, { volumes: [{ name: 'a' }, { name: 'a' }] }), 'spec.volumes[1].name: Duplicate'],
    [
      volume({ projected: { sources: [{ secret: { name: 'b' }, configMap: { name: 'c' } }] } }),
      'spec.volumes[0].projected.sources[0]: Forbidden',
    ],
    [
      volume({ projected: { sources: [{ downwardAPI: { items: [item, item] } }] } }),
      'spec.volumes[0].projected: Invalid',
    ],
    [volume({ downwardAPI: { items: [{ path: 'x' }] } }), 'spec.volumes[0].downwardAPI.items[0]: Required'],
    [
      volume({ downwardAPI: { items: [{ ...item, resourceFieldRef: { resource: 'limits.cpu' } }] } }),
      'spec.volumes[0].downwardAPI.items[0]: Invalid',
      'spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName: Required',
    ],
    [podWith({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }), `${at}.lifecycle.preStop.sleep: Invalid`],
    [
      podWith({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
      `${at}.securityContext: Invalid`,
    ],
    [toleration({}), 'spec.tolerations[0].operator: Invalid'],
    [toleration({ key: 'a', tolerationSeconds: 1 }), 'spec.tolerations[0].effect: Invalid'],
    [toleration({ operator: 'Exists', value: 'b' }), 'spec.tolerations[0].operator: Invalid'],
    [toleration({ key: 'a', value: 'b c' }), 'spec.tolerations[0].operator: Invalid'],
    [mounting({ mountPath: '/a', subPath: 'b', subPathExpr: 'c' }), `${at}.volumeMounts[0].subPathExpr: Invalid`],
    [
      mounting({ mountPath: '/a', mountPropagation: 'Bidirectional' }),
      `${at}.volumeMounts[0].mountPropagation: Forbidden`,
    ],
    [limits({ disk: 1 }), `${at}.resources.limits[disk]: Invalid`],
    [limits({ cpu: '-1' }), `${at}.resources.limits[cpu]: Invalid`],
    [limits({ 'a.b/c': '100m' }), `${at}.resources.limits[a.b/c]: Invalid`],
    [limits({ 'a.b/c': 2 }, { 'a.b/c': 1 }), `${at}.resources.requests: Invalid`],
    [limits({}, { 'hugepages-2Mi': '2Mi' }), `${at}.resources.limits: Required`],
    [podWith({ resources: { claims } }), `${at}.resources.claims[0]: Not found`],
    [
      podWith({}, { resources: { limits: { 'ephemeral-storage': 1 } } }),
      'spec.resources.limits[ephemeral-storage]: Uns',
    ],
    [
      podWith({ resources: { limits: { cpu: 2 } } }, { resources: { limits: { cpu: 1 } } }),
      'spec.resources.requests: Invalid',
      `${at}.resources.limits[cpu]: Invalid`,
    ],
  ];
  for (const [pod, ...expected] of places)
    it(`${expected.length === 0 ? 'accepts' : 'finds'} ${expected[0] ?? 'a key in capitals'}`, () => {
      const messages = messagesOf(pod);
      assert.equal(messages.length, expected.length, messages.join('\n'));
      for (const place of expected)
        assert.ok(
          messages.some((message) => message.startsWith(place)),
          `${place} is not in ${messages.join('\n')}`,
        );
    });

  const valid: [title: string, pod: JsonObject][] = [
    ['an image that the kubelet refuses', podWith({ image: 'a b' })],
    [
      'fractions that add up',
      podWith(
        { resources: { requests: { cpu: '0.1' } } },
        {
          initContainers: [{ name: 'b', image, restartPolicy: 'Always', resources: { requests: { cpu: '0.2' } } }],
          resources: { requests: { cpu: '0.3' } },
        },
      ),
    ],
    [
      'equal amounts in other words',
      podWith({ resources: { requests: { memory: '1Gi' }, limits: { memory: '1024Mi' } } }),
    ],
    ['odd names of variables', podWith({ env: [{ name: 'a b.-{', value: '' }] })],
    ['a probe of a native sidecar', native({ restartPolicy: 'Always', startupProbe: { exec, successThreshold: 0 } })],
    ['a volume without a source', podWith({}, { volumes: [{ name: 'a' }] })],
    ['zeros, which stand for defaults', podWith({ ports: [{ containerPort: 1, hostPort: 0, protocol: '' }] })],
    ['user 0', podWith({ securityContext: { runAsUser: 0 } }, { securityContext: { fsGroup: 0 } })],
    ['labels and annotations', { ...podWith({}), metadata: { labels, annotations: { 'a.b/C': 'é' } } }],
  ];
  for (const [title, pod] of valid)
    it(`accepts ${title}`, () => {
      assert.deepEqual(messagesOf(pod), []);
    });

  it('accepts all typical pods', () => {
    for (let index = 0; index < 2 * typicalPods('').length; index += 1)
      assert.deepEqual(messagesOf(typicalPod('inject', index).pod), []);
  });

  it('never throws, reports a bounded number of findings, and shortens them', () => {
    const names = ['containers', 'name', 'image', 'ports', 'env', 'valueFrom', 'resources', 'limits', 'cpu', 'volumes'];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, '', 'a', 'A_', -1, 0, true, 'x'.repeat(300)),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, 'livenessProbe', 'fieldRef', 'hostAliases'), tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, (metadata, spec) => {
        const found = findInvalidFields({ metadata, spec });
        assert.ok(found.length <= 50);
        for (const { message } of found) assert.ok(message.length < 1000, message);
      }),
    );
    const many = podWith({ env: Array.from({ length: 1000 }, () => ({ name: '=' })) });
    assert.equal(findInvalidFields(many).length, 50);
  });
});

describe('introducedFields', () => {
  it('ignores what was wrong before, even if its place moves', () => {
    const before = podWith({ image: '', volumeMounts: [{ name: 'x', mountPath: '/a' }] });
    const { containers } = before.spec as { containers: JsonObject[] };
    const sidecar = { name: 'sidecar', image, volumeMounts: [{ name: 'x', mountPath: '/a' }] };
    const after = { spec: { containers: [sidecar, ...containers] } };
    const paths = introducedFields(before, after).map(({ path }) => path);
    assert.deepEqual(paths, ['spec.containers[0].volumeMounts[0].name']);
    assert.deepEqual(introducedFields(before, before), []);
  });

  it('names up to three fields in a message', () => {
    const env = ['', '=', 'é', 'a\n'].map((name) => ({ name }));
    assert.match(refusalOf(podWith({}), podWith({ env })) ?? '', /^the API server refuses .*env\[0\].*; and 1 more$/);
    assert.equal(refusalOf(podWith({}), podWith({})), undefined);
  });
});
