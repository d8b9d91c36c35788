import { Random } from '../../../scripts/template-recorder/random.ts';

/**
 * The outcome of a request: the HTTP status, followed for a review by `patched` (allowed with a
 * patch), `allowed` (without a patch) or `refused`; or `closed` if the connection ended without an
 * answer. Several answers are joined with ` then `.
 */
export type Outcome = string;

export interface HostileRequest {
  readonly bytes: Buffer;
  /** `plain` means that the client does not use TLS. */
  readonly transport?: 'plain';
  /** Whether the client closes its side after it has sent the bytes, as a crashed client does. */
  readonly thenEnd?: true;
  /** The number of expected answers (default 1); `all` reads until the connection closes. */
  readonly answers?: number | 'all';
  /** Whether the answer has no body despite its Content-Length, as for HEAD. */
  readonly withoutBody?: true;
}

export interface HostileClass {
  readonly name: string;
  /** The allowed outcomes of each request. */
  readonly expect: readonly Outcome[];
  readonly make: (random: Materials, target: HostileTarget) => HostileRequest;
}

type Expected = Outcome | readonly Outcome[];

export interface HostileTarget {
  readonly path: string;
  readonly host: string;
}

/** Defines a class of requests with its allowed outcomes. */
export function hostile(name: string, expect: Expected, make: HostileClass['make']): HostileClass {
  return { name, expect: [expect].flat(), make };
}

/** Defines a class of valid requests with a hostile body. */
export function hostileText(
  name: string,
  expect: Expected,
  content: (random: Materials) => string | Buffer,
): HostileClass {
  return hostile(name, expect, (random, target) => ({ bytes: framed(target, content(random)) }));
}

/** Defines a class of requests with a hostile AdmissionReview. */
export function hostileReview(name: string, expect: Expected, value: (random: Materials) => unknown) {
  return hostileText(name, expect, (random) => JSON.stringify(value(random)));
}

/** Defines a class of AdmissionReviews with a hostile member `request`. */
export function hostileRequest(name: string, expect: Expected, request: (random: Materials) => unknown) {
  return hostileReview(name, expect, (random) => review(request(random)));
}

/** Defines a class of reviews of a valid pod in which `change` replaces members. */
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
/** Few values, so that requests must differ in more than their uid. */
const uids = Array.from({ length: 16 }, (_, index) => `705ab4f5-6393-11e8-b7cc-0000000000${10 + index}`);

export type Members = Record<string, unknown>;

export interface PodMembers extends Members {
  metadata: Members & { labels: Members; annotations: Members };
  spec: Members & { containers: Members[] };
}

/** A source of random values, and of parts of hostile requests. */
export class Materials extends Random {
  /** Returns lower-case letters. */
  word(length = 3 + this.below(10)): string {
    return Array.from({ length }, () => letters.charAt(this.below(letters.length))).join('');
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Returns a valid pod. */
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

  /** Returns the member `request` of a review that creates the pod. */
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

  /** Returns the text of a valid review. */
  healthyText(): string {
    return JSON.stringify(review(this.creation()));
  }

  /** Returns a valid review with text inserted at the first match of a pattern. */
  healthyTextWith(place: RegExp, more: string): string {
    return this.healthyText().replace(place, (match) => match + more);
  }

  /** Returns a value whose type differs from the given type. */
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

/** Matches a number in a valid review. */
export const portNumber = /(?<="containerPort":)\d+/;

/** Returns an AdmissionReview as an API server sends it, with replaced members. */
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

/** Returns the head of a request. Omits the header for the length of the body. */
export function head(target: HostileTarget, options: Head = {}): string {
  const { method = 'POST', path = `${target.path}?timeout=10s`, version = 'HTTP/1.1', headers = [] } = options;
  const contentType = 'contentType' in options ? options.contentType : 'application/json';
  const lines = [`${method} ${path} ${version}`, `Host: ${target.host}`, 'User-Agent: kube-apiserver-admission'];
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`);
  return [...lines, ...headers, ''].join('\r\n');
}

/** Returns a request with the correct Content-Length. */
export function framed(target: HostileTarget, body: string | Buffer, options: Head = {}): Buffer {
  return Buffer.concat([
    Buffer.from(`${head(target, options)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
}

/** Returns a request with chunks of random sizes. */
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
