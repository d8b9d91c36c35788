/** The shape of a measurement's pods. */
export interface PodShape {
  readonly containers: number;
  /** The number of environment variables of each container. */
  readonly environment: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns the body of the n-th review. All uids differ. */
export type ReviewMaker = (index: number) => Buffer;

/** The placeholder for the number of a review: twelve digits, like the last group of a UUID. */
export const placeholder = '000000000000';
const fixed = '999999999999';

/** Returns reviews whose pods, if `distinct`, differ in images, variables and an annotation. */
export function podReviews(shape: PodShape, distinct: boolean): ReviewMaker {
  return reviewsOf(JSON.stringify(review(shape, distinct ? placeholder : fixed)));
}

/** Returns reviews like a recorded review. If `distinct`, the first images differ. */
export function recordedReviews(recorded: string, distinct: boolean): ReviewMaker {
  return reviewsOf(recordedTemplate(recorded, distinct));
}

function recordedTemplate(recorded: string, distinct: boolean): string {
  const withUid = recorded.replace(/(?<="uid":"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3})[0-9a-f]{12}(?=")/, placeholder);
  return distinct ? withUid.replace(/"image":"/, `$&${placeholder}-`) : withUid;
}

/** Returns reviews whose pods also differ in names, labels and a port, which templates copy. */
export function neverSeenReviews(recorded: string): ReviewMaker {
  const reviews = reviewsOf(neverSeenTemplate(recorded));
  return (index) => Buffer.from(withPort(reviews(index).toString(), index));
}

/** Returns a review with the placeholder in all texts that must differ; its port does not. */
export function neverSeenTemplate(recorded: string): string {
  const { request } = JSON.parse(recorded) as { request: { object: { metadata: { labels?: { app?: string } } } } };
  const { app = '' } = request.object.metadata.labels ?? {};
  if (app === '') throw new Error('the recorded pod has no label app');
  const renamed = recorded.replaceAll(
    new RegExp(`(?<="(?:app|app\\.kubernetes\\.io/name|name|generateName)":")${app}(?=["-])`, 'g'),
    `$&-${placeholder}`,
  );
  return recordedTemplate(renamed, true);
}

/** Replaces the first containerPort in a JSON text with one of 50,000 ports. */
export function withPort(text: string, index: number): string {
  return text.replace(/"containerPort":\d+/, `"containerPort":${10_000 + (index % 50_000)}`);
}

function reviewsOf(template: string): ReviewMaker {
  const pieces = template.split(placeholder);
  return (index) => Buffer.from(pieces.join(String(index).padStart(placeholder.length, '0')));
}

/** Returns a review in the API server's field order: kind, version and uid first. */
function review({ containers, environment, labels = {} }: PodShape, mark: string): unknown {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: `705ab4f5-6393-11e8-b7cc-${placeholder}`,
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
