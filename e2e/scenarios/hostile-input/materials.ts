import { Random } from '../../../scripts/template-recorder/random.ts';

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
  readonly expect: readonly Outcome[];
  readonly make: (random: Materials, target: HostileTarget) => HostileRequest;
}

type Expected = Outcome | readonly Outcome[];

export interface HostileTarget {
  readonly path: string;
  readonly host: string;
}

/** A class of requests, and what every one of them must end in. */
export function hostile(name: string, expect: Expected, make: HostileClass['make']): HostileClass {
  return { name, expect: [expect].flat(), make };
}

/** The same by the body alone, in a request that is otherwise in order. */
export function hostileText(
  name: string,
  expect: Expected,
  content: (random: Materials) => string | Buffer,
): HostileClass {
  return hostile(name, expect, (random, target) => ({ bytes: framed(target, content(random)) }));
}

/** By the AdmissionReview, */
export function hostileReview(name: string, expect: Expected, value: (random: Materials) => unknown) {
  return hostileText(name, expect, (random) => JSON.stringify(value(random)));
}

/** by its member `request`, */
export function hostileRequest(name: string, expect: Expected, request: (random: Materials) => unknown) {
  return hostileReview(name, expect, (random) => review(request(random)));
}

/** and by the members of a healthy pod that are replaced. */
export function hostilePod(
  name: string,
  expect: Expected,
  change: (random: Materials, pod: PodMembers) => Members,
): HostileClass {
  return hostileRequest(name, expect, (random) => {
    const whole = random.pod();
    return random.creation({ ...whole, ...change(random, whole) });
  });
}

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Few, so that requests are not distinct by their uid alone. */
const uids = Array.from({ length: 16 }, (_, index) => `705ab4f5-6393-11e8-b7cc-0000000000${10 + index}`);

export type Members = Record<string, unknown>;

export interface PodMembers extends Members {
  metadata: Members & { labels: Members; annotations: Members };
  spec: Members & { containers: Members[] };
}

/** Random choices, and what hostile requests are made of by them. */
export class Materials extends Random {
  /** Lower-case letters. */
  word(length = 3 + this.below(10)): string {
    return Array.from({ length }, () => letters.charAt(this.below(letters.length))).join('');
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** A pod that any injector takes. */
  pod(): PodMembers {
    const container = {
      name: this.word(),
      image: `example.com/${this.word()}:${this.below(100)}`,
      env: [{ name: this.word().toUpperCase(), value: this.word() }],
      ports: [{ containerPort: 1 + this.below(60_000) }],
    };
    return {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        generateName: `${this.word()}-`,
        labels: { app: this.word(), [`example.com/${this.word()}`]: this.word() },
        annotations: { 'example.com/note': this.word(12) },
      },
      spec: { containers: [container], serviceAccountName: 'default' },
    };
  }

  /** The member `request` of a review that creates the pod. */
  creation(object: unknown = this.pod()): Members {
    return {
      uid: this.pick(uids),
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: this.word(),
      operation: 'CREATE',
      userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
      object,
      oldObject: null,
      dryRun: false,
    };
  }

  /** The text of a healthy review. */
  healthyText(): string {
    return JSON.stringify(review(this.creation()));
  }

  /** The same with something more behind the first place that the pattern matches. */
  healthyTextWith(place: RegExp, more: string): string {
    return this.healthyText().replace(place, (match) => match + more);
  }

  /** A value that has another type than the one named. */
  otherThan(unwanted?: 'string' | 'boolean' | 'list' | 'object'): unknown {
    const values = {
      string: this.word(),
      number: this.below(1_000_000),
      boolean: this.chance(0.5),
      list: [this.word()],
      object: { [this.word()]: this.word() },
    };
    return this.pick(Object.entries(values).filter(([type]) => type !== unwanted))[1];
  }
}

/** Where a healthy review has a number. */
export const portNumber = /(?<="containerPort":)\d+/;

/** A review as the API server would send it, but for what the arguments say. */
export function review(request: unknown, members: Members = {}): Members {
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request, ...members };
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
export function chunked(random: Materials, target: HostileTarget, body: string): Buffer {
  const rest = Buffer.from(body);
  const pieces: Buffer[] = [Buffer.from(`${head(target)}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let start = 0; start < rest.length;) {
    const piece = rest.subarray(start, start + 1 + random.below(Math.max(rest.length / 4, 16)));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    start += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
