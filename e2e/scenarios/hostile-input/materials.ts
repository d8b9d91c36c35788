import type { Random } from '../../../scripts/template-recorder/random.ts';
import type { HostileRequest, HostileTarget } from './hostile-class.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Few, so that requests are not distinct by their uid alone. */
const uids = Array.from(
  { length: 16 },
  (_, index) => `705ab4f5-6393-11e8-b7cc-0000000000${String(index).padStart(2, '0')}`,
);

/** Lower-case letters. */
export function word(random: Random, length = 3 + random.below(10)): string {
  return Array.from({ length }, () => letters.charAt(random.below(letters.length))).join('');
}

export function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

export type Members = Record<string, unknown>;

export interface PodMembers extends Members {
  metadata: Members & { labels: Members; annotations: Members };
  spec: Members & { containers: Members[] };
}

/** A pod that any injector takes. */
export function pod(random: Random): PodMembers {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      generateName: `${word(random)}-`,
      labels: { app: word(random), [`example.com/${word(random)}`]: word(random) },
      annotations: { 'example.com/note': word(random, 12) },
    },
    spec: {
      containers: [
        {
          name: word(random),
          image: `example.com/${word(random)}:${random.below(100)}`,
          env: [{ name: word(random).toUpperCase(), value: word(random) }],
          ports: [{ containerPort: 1 + random.below(60_000) }],
        },
      ],
      serviceAccountName: 'default',
    },
  };
}

/** The member `request` of a review that creates the pod. */
export function creation(random: Random, object: unknown = pod(random)): Members {
  return {
    uid: random.pick(uids),
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: word(random),
    operation: 'CREATE',
    userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
    object,
    oldObject: null,
    dryRun: false,
  };
}

/** A review as the API server would send it, but for what the arguments say. */
export function review(request: unknown, members: Members = {}): Members {
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request, ...members };
}

/** The text of a healthy review. */
export function healthyText(random: Random): string {
  return JSON.stringify(review(creation(random)));
}

export interface Head {
  readonly method?: string;
  readonly path?: string;
  readonly version?: string;
  readonly contentType?: string | undefined;
  /** Further header lines. */
  readonly headers?: readonly string[];
}

/** The head of a request, without what says how long its body is. */
export function head(target: HostileTarget, options: Head = {}): string {
  const { method = 'POST', path = `${target.path}?timeout=10s`, version = 'HTTP/1.1', headers = [] } = options;
  const contentType = 'contentType' in options ? options.contentType : 'application/json';
  const lines = [`${method} ${path} ${version}`, `Host: ${target.host}`, 'User-Agent: kube-apiserver-admission'];
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`);
  return [...lines, ...headers, ''].join('\r\n');
}

/** A request that is framed as it should be. */
export function framed(target: HostileTarget, body: string | Buffer, options: Head = {}): Buffer {
  return Buffer.concat([
    Buffer.from(`${head(target, options)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
}

/** The same in chunks of random sizes. */
export function chunked(random: Random, target: HostileTarget, body: string | Buffer, options: Head = {}): Buffer {
  const rest = typeof body === 'string' ? Buffer.from(body) : body;
  const pieces: Buffer[] = [Buffer.from(`${head(target, options)}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let start = 0; start < rest.length;) {
    const piece = rest.subarray(start, start + 1 + random.below(Math.max(rest.length / 4, 16)));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    start += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** A body, in a request that is otherwise in order. */
export function body(target: HostileTarget, content: string | Buffer): HostileRequest {
  return { bytes: framed(target, content) };
}

/** A JSON value, in a request that is otherwise in order. */
export function json(target: HostileTarget, value: unknown): HostileRequest {
  return body(target, JSON.stringify(value));
}

/** A value that has another type than those named. */
export function otherThan(random: Random, ...types: readonly string[]): unknown {
  const values: readonly [type: string, value: unknown][] = [
    ['string', word(random)],
    ['number', random.below(1_000_000)],
    ['boolean', random.chance(0.5)],
    ['list', [word(random)]],
    ['object', { [word(random)]: word(random) }],
  ];
  return random.pick(values.filter(([type]) => !types.includes(type)))[1];
}
