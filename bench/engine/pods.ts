import { withPort } from '../server/pod-reviews.ts';

/** The n-th pod of a measurement, as JSON: parsing it is no part of what is measured. */
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

/** What stands for the number of the pod. */
const place = '@0000000@';

function numbered(pod: PodText): PodMaker {
  const pieces = JSON.stringify(pod).split(place);
  return (index) => pieces.join(String(index).padStart(place.length, '0'));
}

/** Pods of one workload, differing in the first image, an environment value and an annotation. */
export function newPods(review: string): PodMaker {
  return numbered(distinct(podOf(review)));
}

/** Pods of which nothing was seen before: of new names, labels, owners and ports as well, which templates paste into what they render. */
export function neverSeen(review: string): PodMaker {
  const pod = distinct(podOf(review));
  const { metadata } = pod;
  const made = numbered({
    ...pod,
    metadata: {
      ...metadata,
      generateName: `web-${place}-6f7d9b5c4d-`,
      labels: { ...metadata.labels, app: `web-${place}`, 'app.kubernetes.io/name': `web-${place}` },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${place}-6f7d9b5c4d`, uid: place, controller: true },
      ],
    },
  });
  return (index) => withPort(made(index), index);
}

/** Pods of a size, each different. */
export function sizedPods(containers: number, environment: number): PodMaker {
  return numbered({
    metadata: {
      generateName: 'web-6d4f5b7c9-',
      labels: { app: 'web' },
      annotations: { 'example.com/change': place },
    },
    spec: {
      containers: Array.from({ length: containers }, (_, container) => ({
        name: `web-${container}`,
        image: `registry.example.com/web:${place}`,
        ports: [{ containerPort: 8080 + container, protocol: 'TCP' }],
        readinessProbe: { httpGet: { path: '/ready', port: 8080 + container } },
        env: Array.from({ length: environment }, (_item, variable) => ({
          name: `VARIABLE_${variable}`,
          value: `value ${variable} ${place}`,
        })),
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
        imagePullPolicy: 'IfNotPresent',
      })),
    },
  });
}

/** The body of a review around a pod of a size. */
export function reviewOf(pod: string): string {
  return `{"request":{"object":${pod}}}`;
}

function podOf(review: string): PodText {
  return (JSON.parse(review) as ReviewText).request.object;
}

function distinct(pod: PodText): PodText {
  const [first, ...others] = pod.spec.containers;
  const containers = [
    { ...first, image: `registry.example.com/web:${place}`, env: withValue(first?.env ?? []) },
    ...others,
  ];
  const annotations = { ...pod.metadata.annotations, 'example.com/change': place };
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: { ...pod.spec, containers } };
}

function withValue(env: readonly object[]): object[] {
  return [...env.slice(0, -1), { name: 'CHANGE', value: place }];
}
