import { withPort } from '../server/pod-reviews.ts';

/** Returns the n-th pod of a measurement as JSON. The benchmarks do not measure parsing. */
export type PodMaker = (index: number) => string;

interface ReviewText {
  readonly request: { readonly object: PodText };
}

interface PodText {
  readonly metadata: {
    readonly generateName?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: { readonly containers: readonly { readonly env?: readonly object[] }[] };
}

/** The placeholder for the number of the pod. */
const mark = '@0000000@';

function numbered(pod: PodText): PodMaker {
  const pieces = JSON.stringify(pod).split(mark);
  return (index) => pieces.join(String(index).padStart(mark.length, '0'));
}

/** Returns pods of one workload that differ in the first image, a variable and an annotation. */
export function newPods(review: string): PodMaker {
  return numbered(distinct(podOf(review)));
}

/** Returns pods that also differ in names, labels, owners and ports, which templates copy. */
export function neverSeen(review: string): PodMaker {
  const pod = distinct(podOf(review));
  const { metadata } = pod;
  const made = numbered({
    ...pod,
    metadata: {
      ...metadata,
      generateName: `web-${mark}-6f7d9b5c4d-`,
      labels: { ...metadata.labels, app: `web-${mark}`, 'app.kubernetes.io/name': `web-${mark}` },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${mark}-6f7d9b5c4d`, uid: mark, controller: true },
      ],
    },
  });
  return (index) => withPort(made(index), index);
}

/** Returns pods of one size. Each pod has a different number in its texts. */
export function sizedPods(containers: number, environment: number): PodMaker {
  return numbered({
    metadata: {
      generateName: 'web-6d4f5b7c9-',
      labels: { app: 'web' },
      annotations: { 'example.com/change': mark },
    },
    spec: {
      containers: Array.from({ length: containers }, (_, container) => ({
        name: `web-${container}`,
        image: `registry.example.com/web:${mark}`,
        ports: [{ containerPort: 8080 + container, protocol: 'TCP' }],
        readinessProbe: { httpGet: { path: '/ready', port: 8080 + container } },
        env: Array.from({ length: environment }, (_item, variable) => ({
          name: `VARIABLE_${variable}`,
          value: `value ${variable} ${mark}`,
        })),
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
        imagePullPolicy: 'IfNotPresent',
      })),
    },
  });
}

/** Returns the body of a review that contains a pod. */
export function reviewOf(pod: string): string {
  return `{"request":{"object":${pod}}}`;
}

function podOf(review: string): PodText {
  return (JSON.parse(review) as ReviewText).request.object;
}

function distinct(pod: PodText): PodText {
  const [first, ...others] = pod.spec.containers;
  const containers = [
    { ...first, image: `registry.example.com/web:${mark}`, env: withValue(first?.env ?? []) },
    ...others,
  ];
  const annotations = { ...pod.metadata.annotations, 'example.com/change': mark };
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: { ...pod.spec, containers } };
}

function withValue(env: readonly object[]): object[] {
  return [...env.slice(0, -1), { name: 'CHANGE', value: mark }];
}
