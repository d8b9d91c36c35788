/** What the pods of a measurement look like. */
export interface PodShape {
  readonly containers: number;
  /** Environment variables of each container. */
  readonly environment: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Makes the body of the n-th review. Every one has a uid of its own; `distinct` pods differ in an image, an environment value and an annotation too. */
export type ReviewMaker = (index: number) => Buffer;

/** Twelve digits, as the last group of a UUID has them; what stands in their place is exchanged for each review. */
const place = '000000000000';
const fixed = '999999999999';

export function podReviews(shape: PodShape, distinct: boolean): ReviewMaker {
  return reviewsOf(JSON.stringify(review(shape, distinct ? place : fixed)));
}

/** Reviews like a recorded one; of distinct ones the first image differs. */
export function recordedReviews(recorded: string, distinct: boolean): ReviewMaker {
  const withUid = recorded.replace(/(?<="uid":"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3})[0-9a-f]{12}(?=")/, place);
  return reviewsOf(distinct ? withUid.replace(/"image":"/, `$&${place}-`) : withUid);
}

/** Reviews like a recorded one of which nothing was seen before: names, labels, an image and a port are new each time, and templates paste them into what they render. */
export function neverSeenReviews(recorded: string): ReviewMaker {
  const { request } = JSON.parse(recorded) as { request: { object: { metadata: { labels?: { app?: string } } } } };
  const { app = '' } = request.object.metadata.labels ?? {};
  if (app === '') throw new Error('the recorded pod has no label app');
  const renamed = recorded.replaceAll(
    new RegExp(`(?<="(?:app|app\\.kubernetes\\.io/name|name|generateName)":")${app}(?=["-])`, 'g'),
    `$&-${place}`,
  );
  const reviews = recordedReviews(renamed, true);
  return (index) => Buffer.from(withPort(reviews(index).toString(), index));
}

/** A pod, or what holds one, as JSON, of which the first port is another for each of 50,000 numbers. */
export function withPort(text: string, index: number): string {
  return text.replace(/"containerPort":\d+/, `"containerPort":${10_000 + (index % 50_000)}`);
}

function reviewsOf(template: string): ReviewMaker {
  const pieces = template.split(place);
  return (index) => Buffer.from(pieces.join(String(index).padStart(place.length, '0')));
}

/** A review as the API server writes it: kind, version and uid first. */
function review({ containers, environment, labels = {} }: PodShape, mark: string): unknown {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: `705ab4f5-6393-11e8-b7cc-${place}`,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          generateName: 'web-6d4f5b7c9-',
          labels: { app: 'web', ...labels },
          annotations: { 'example.com/change': mark },
        },
        spec: {
          containers: Array.from({ length: containers }, (_, container) => ({
            name: `web-${container}`,
            image: `registry.example.com/web:${mark}`,
            ports: [{ containerPort: 8080 + container, protocol: 'TCP' }],
            env: Array.from({ length: environment }, (_item, variable) => ({
              name: `VARIABLE_${variable}`,
              value: `value ${variable} ${mark}`,
            })),
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            imagePullPolicy: 'IfNotPresent',
          })),
          restartPolicy: 'Always',
          serviceAccountName: 'default',
        },
        status: {},
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  };
}
