/** A template that compiles and makes invalid pods, with the expected message of the API server. */
export interface RefusedTemplate {
  readonly title: string;
  readonly template: string;
  readonly said: RegExp;
}

const image = 'image: example.com/sidecar:1';
const container = (...lines: string[]): string =>
  ['spec:', '  containers:', '  - name: sidecar', ...lines.map((line) => `    ${line}`)].join('\n');
/** A template that adds a valid container, with fields in it. */
const sidecar = (title: string, field: string, said: RegExp): RefusedTemplate => ({
  title,
  template: container(image, field),
  said,
});
/** A template that adds a valid container, and other parts to the pod. */
const pod = (title: string, parts: string, said: RegExp): RefusedTemplate => ({
  title,
  template: `${container(image)}\n${parts}`,
  said,
});

const http = 'httpGet: {port: 80}';

export const refusedTemplates: readonly RefusedTemplate[] = [
  sidecar(
    'a mount without a volume',
    'volumeMounts: [{name: gone, mountPath: /a}]',
    /volumeMounts\[\d\]\.name: Not found: "gone"/,
  ),
  {
    title: 'a bad container name',
    template: `spec: {containers: [{name: Proxy_1, ${image}}]}`,
    said: /\.name: Invalid value: "Proxy_1"/,
  },
  { title: 'no image', template: 'spec: {containers: [{name: sidecar}]}', said: /\.image: Required value/ },
  { title: 'an empty image', template: container('image: ""'), said: /\.image: Required value/ },
  { title: 'an image with a space', template: container('image: " a"'), said: /\.image: Invalid value: " a"/ },
  sidecar(
    'requests above limits',
    'resources: {requests: {cpu: 2}, limits: {cpu: 1}}',
    /requests: Invalid value: "2": must be less than or equal to cpu limit/,
  ),
  sidecar('a negative limit', 'resources: {limits: {memory: "-1"}}', /limits\[memory\]: Invalid value: "-1"/),
  sidecar('an unknown resource', 'resources: {limits: {disk: 1}}', /limits\[disk\]: Invalid value: "disk"/),
  sidecar('a port out of range', 'ports: [{containerPort: 99999}]', /containerPort: Invalid value: 99999/),
  sidecar(
    'a bad port name',
    'ports: [{containerPort: 80, name: this-name-is-too-long}]',
    /ports\[0\]\.name: Invalid value/,
  ),
  sidecar('an unknown protocol', 'ports: [{containerPort: 80, protocol: HTTP}]', /protocol: Unsupported value: "HTTP"/),
  sidecar(
    'a duplicate mount path',
    'volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a}]\n  volumes: [{name: v, emptyDir: {}}]',
    /mountPath: Invalid value: "\/a": must be unique/,
  ),
  sidecar(
    'value and valueFrom',
    'env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]',
    /valueFrom: Invalid value.*may not be specified when `value` is not empty/,
  ),
  sidecar(
    'an unknown field path',
    'env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.owner}}}]',
    /fieldPath: Invalid value: "metadata\.owner"/,
  ),
  sidecar('a variable without a name', 'env: [{value: b}]', /env\[0\]\.name: Required value/),
  sidecar(
    'a probe with two handlers',
    `livenessProbe: {${http}, tcpSocket: {port: 80}}`,
    /tcpSocket: Forbidden: may not specify more than 1 handler type/,
  ),
  sidecar(
    'a probe without a handler',
    'readinessProbe: {periodSeconds: 5}',
    /readinessProbe: Required value: must specify a handler type/,
  ),
  sidecar(
    'a probe with a negative period',
    `livenessProbe: {${http}, periodSeconds: -1}`,
    /periodSeconds: Invalid value: -1/,
  ),
  sidecar('an unknown pull policy', 'imagePullPolicy: Sometimes', /imagePullPolicy: Unsupported value: "Sometimes"/),
  sidecar(
    'an unknown capability setting',
    'securityContext: {privileged: true, allowPrivilegeEscalation: false}',
    /securityContext: Invalid value.*cannot set `allowPrivilegeEscalation` to false and `privileged` to true/,
  ),
  sidecar('a negative user', 'securityContext: {runAsUser: -1}', /runAsUser: Invalid value: -1/),
  pod('an unknown restart policy', '  restartPolicy: always', /spec\.restartPolicy: Unsupported value: "always"/),
  pod('an unknown DNS policy', '  dnsPolicy: Cluster', /spec\.dnsPolicy: Unsupported value: "Cluster"/),
  pod('a deadline of zero', '  activeDeadlineSeconds: 0', /activeDeadlineSeconds: Invalid value: 0/),
  pod(
    'a bad volume name',
    '  volumes: [{name: My_Volume, emptyDir: {}}]',
    /volumes\[\d\]\.name: Invalid value: "My_Volume"/,
  ),
  pod(
    'a volume of two types',
    '  volumes: [{name: v, emptyDir: {}, hostPath: {path: /a}}]',
    /volumes\[\d\]\.hostPath: Forbidden: may not specify more than 1 volume type/,
  ),
  pod('a bad label', 'metadata: {labels: {"a b": c}}', /metadata\.labels: Invalid value: "a b"/),
  pod('a bad label value', 'metadata: {labels: {a: "b c"}}', /metadata\.labels: Invalid value: "b c"/),
  pod('a bad annotation', 'metadata: {annotations: {"a b": c}}', /metadata\.annotations: Invalid value: "a b"/),
  pod('a bad node selector', '  nodeSelector: {"a b": c}', /nodeSelector: Invalid value: "a b"/),
  pod(
    'an unknown toleration',
    '  tolerations: [{key: a, operator: Has}]',
    /tolerations\[\d\]\.operator: Unsupported value: "Has"/,
  ),
  pod(
    'an init container with an unknown restart policy',
    `  initContainers: [{name: init, ${image}, restartPolicy: Often}]`,
    /restartPolicy: Unsupported value: "Often"/,
  ),
];
