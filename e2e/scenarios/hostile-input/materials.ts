import type { Random } from '../../../scripts/template-recorder/random.ts';

/**
 * How an exchange ended for the client: the HTTP status of the answer; of an answered review also its verdict, `patched` (allowed, with a patch), `allowed` (without) or
 * `refused`; `closed`, when the connection ended without an answer. Several answers are joined by ` then `.
 */
export type Outcome = string;

export interface HostileRequest {
  readonly bytes: Buffer;
  /** `plain` speaks no TLS; `tls` when unset. */
  readonly transport?: 'plain';
  /** The client ends its side after the bytes, as one that crashes does. */
  readonly thenEnd?: true;
  /** Answers to wait for; one when unset. `all`: until the server closes the connection, so that not one answer too many goes unnoticed. */
  readonly answers?: number | 'all';
  /** The answer to HEAD has no body, whatever its Content-Length says. */
  readonly withoutBody?: true;
}

export interface HostileClass {
  readonly name: string;
  /** Every request of the class must end in one of these. */
  readonly expect: Outcome | readonly Outcome[];
  readonly make: (random: Random, target: HostileTarget) => HostileRequest;
}

export interface HostileTarget {
  readonly path: string;
  readonly host: string;
}

/** A class of requests, and what every one of them must end in. */
export function hostile(name: string, expect: HostileClass['expect'], make: HostileClass['make']): HostileClass {
  return { name, expect, make };
}

/** The same by the body alone, in a request that is otherwise in order. */
export function hostileText(
  name: string,
  expect: HostileClass['expect'],
  content: (random: Random) => string | Buffer,
): HostileClass {
  return hostile(name, expect, (random, target) => ({ bytes: framed(target, content(random)) }));
}

/** By the AdmissionReview, */
export function hostileReview(name: string, expect: HostileClass['expect'], value: (random: Random) => unknown) {
  return hostileText(name, expect, (random) => JSON.stringify(value(random)));
}

/** by its member `request`, */
export function hostileRequest(name: string, expect: HostileClass['expect'], request: (random: Random) => unknown) {
  return hostileReview(name, expect, (random) => review(request(random)));
}

/** and by what is made of a healthy pod that is created. */
export function hostilePod(
  name: string,
  expect: HostileClass['expect'],
  change: (random: Random, object: PodMembers) => unknown,
): HostileClass {
  return hostileRequest(name, expect, (random) => creation(random, change(random, pod(random))));
}

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
