import { entryLines } from '../../src/inject/objects/write-value.ts';

/** The formats of the files that are measured. */
export const formats = ['a List in YAML', 'a List in JSON', 'documents in YAML'] as const;
export type Format = (typeof formats)[number];

/** Returns a file with Deployments, Pods and ConfigMaps in turn, of about 1 KB each. */
export function generatedFile(format: Format, bytes: number): string {
  const parts: string[] = [];
  for (let size = 0; size < bytes; size += parts.at(-1)?.length ?? 0) parts.push(written(format, parts.length));
  if (format === 'documents in YAML') return parts.join('---\n');
  if (format === 'a List in YAML')
    return `apiVersion: v1\nitems:\n${parts.join('')}kind: List\nmetadata:\n  resourceVersion: ""\n`;
  return `{\n    "apiVersion": "v1",\n    "items": [\n${parts.join(',\n')}\n    ],\n    "kind": "List"\n}\n`;
}

function written(format: Format, index: number): string {
  const object = objects[index % objects.length]?.(`n${index}`) ?? {};
  if (format === 'a List in JSON') return JSON.stringify(object, undefined, 4).replaceAll(/^/gm, '        ');
  const lines = entryLines(undefined, object, 0);
  return lines.map((line) => `${format === 'a List in YAML' ? line : line.slice(2)}\n`).join('');
}

const metadata = (name: string) => ({
  annotations: { 'example.com/owner': 'the team of the shop', 'example.com/text': `a: ${name}` },
  labels: { app: name, 'app.kubernetes.io/part-of': 'shop' },
  name,
  namespace: 'shop',
});

const podSpec = {
  containers: [
    {
      args: ['serve', '--port=8080', '--log-level=info'],
      env: [
        { name: 'ADDRESS', value: 'http://catalogue.shop.svc:8080/items' },
        { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
      ],
      image: 'registry.example.com/shop/web:1.2.3',
      name: 'web',
      ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
      resources: { limits: { memory: '512Mi' }, requests: { cpu: '250m', memory: '256Mi' } },
      volumeMounts: [{ mountPath: '/etc/shop', name: 'config', readOnly: true }],
    },
  ],
  restartPolicy: 'Always',
  volumes: [{ configMap: { defaultMode: 420, name: 'settings' }, name: 'config' }],
};

const objects: readonly ((name: string) => object)[] = [
  (name) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name),
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: podSpec },
    },
  }),
  (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: metadata(name), spec: podSpec }),
  (name) => ({
    apiVersion: 'v1',
    data: { 'shop.yaml': 'catalogue:\n  items: 20\n  address: http://catalogue\n'.repeat(15) },
    kind: 'ConfigMap',
    metadata: metadata(name),
  }),
];
