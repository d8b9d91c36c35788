import { Random } from '../../../../scripts/template-recorder/random.ts';

export interface HostileRequest {
  readonly bytes: Buffer;
  /** The client does not use TLS. */
  readonly plain?: true;
  /** The client closes its side after it has sent the bytes, as a crashed client does. */
  readonly thenEnd?: true;
  /** The number of expected answers (default 1); `all` reads until the connection closes. */
  readonly answers?: number | 'all';
  /** The answer has no body despite its Content-Length, as for HEAD. */
  readonly withoutBody?: true;
}

/** The path of a valid review, and the server's name. */
export type HostileTarget = Readonly<Record<'path' | 'host', string>>;
type Make<Result> = (random: Materials, target: HostileTarget) => Result;

/** A small proxy template that reads labels, annotations, containers and the ProxyConfig. */
export const hostileTemplate = `
spec:
  initContainers:
  - name: istio-init
    image: example.com/init:1
    args: [{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" "*" | quote }}]
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
    args:
    - --concurrency
    - {{ .ProxyConfig.Concurrency | default 2 | quote }}
    {{- range .Spec.Containers }}
    - {{ .Name | quote }}
    {{- end }}
    env:
    - name: NOTE
      value: {{ annotation .ObjectMeta "example.com/guard-note" "none" | quote }}
    - name: APP
      value: {{ index .ObjectMeta.Labels "app" | quote }}
    - name: CONTAINERS
      value: {{ len .Spec.Containers | quote }}
    command: [proxy]
`;

export interface HostileClass {
  readonly name: string;
  /**
   * The allowed outcomes: HTTP statuses, for a review with `patched`, `allowed` (no patch) or
   * `refused`; or `closed` without an answer. ` then ` joins several answers.
   */
  readonly expect: readonly string[];
  readonly make: Make<HostileRequest>;
}

/** Defines a class of requests with its allowed outcomes, which ` or ` joins. */
export function hostile(name: string, expect: string, make: Make<Buffer | HostileRequest>): HostileClass {
  return { name, expect: expect.split(' or '), make: (random, target) => {
    const made = make(random, target);
    return Buffer.isBuffer(made) ? { bytes: made } : made;
  } };
}

/** Defines a class of valid requests with a hostile body. */
export function hostileText(name: string, expect: string, body: (random: Materials) => string | Buffer): HostileClass {
  return hostile(name, expect, (random, target) => framed(target, body(random)));
}

/** Defines a class of requests with a hostile AdmissionReview. */
export function hostileReview(name: string, expect: string, value: (random: Materials) => unknown): HostileClass {
  return hostileText(name, expect, (random) => JSON.stringify(value(random)));
}

/** Defines a class of AdmissionReviews that create a pod, with changed members of `request`. */
export function hostileRequest(name: string, expect: string, members: (random: Materials) => Members): HostileClass {
  return hostileReview(name, expect, (random) => review({ ...random.creation(), ...members(random) }));
}

/** Defines a class of reviews of a valid pod with changed members. */
export function hostilePod(name: string, expect: string, change: (random: Materials, pod: PodMembers) => Members): HostileClass {
  return hostileRequest(name, expect, (random) => {
    const whole = random.pod();
    return { object: { ...whole, ...change(random, whole) } };
  });
}

/** Defines a class of valid reviews with a hostile head. */
export function hostileHead(name: string, expect: string, options: Make<Head>): HostileClass {
  return hostile(name, expect, (random, target) => framed(target, random.healthyText(), options(random, target)));
}

export type Members = Record<string, unknown>;
export interface PodMembers extends Members {
  metadata: Members & { labels: Members; annotations: Members };
  spec: Members & { containers: Members[] };
}

/** A source of random values, and of parts of hostile requests. */
export class Materials extends Random {
  /** Returns lower-case letters. */
  word(length = 3 + this.below(10)): string {
    return Array.from({ length }, () => String.fromCharCode(97 + this.below(26))).join('');
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Returns a valid pod. */
  pod(): PodMembers {
    const env = [{ name: this.word().toUpperCase(), value: this.word() }];
    const ports = [{ containerPort: 1 + this.below(60_000) }];
    const container = { name: this.word(), image: `example.com/${this.word()}:${this.below(100)}`, env, ports };
    const labels = { app: this.word(), [`example.com/${this.word()}`]: this.word() };
    const metadata = { generateName: `${this.word()}-`, labels, annotations: { 'example.com/note': this.word(12) } };
    return { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: [container], serviceAccountName: 'default' } };
  }

  /** Returns the member `request` of a review that creates the pod. Few uids exist. */
  creation(object: unknown = this.pod()): Members {
    const [kind, resource] = [{ group: '', version: 'v1', kind: 'Pod' }, { group: '', version: 'v1', resource: 'pods' }];
    const userInfo = { username: 'system:serviceaccount:kube-system:replicaset-controller' };
    const uid = `705ab4f5-6393-11e8-b7cc-0000000000${10 + this.below(16)}`;
    return { uid, kind, resource, namespace: this.word(), operation: 'CREATE', userInfo, object, oldObject: null, dryRun: false };
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
    const object = { [this.word()]: this.word() };
    const values = { string: this.word(), number: this.below(1_000_000), boolean: this.chance(0.5), list: [this.word()], object };
    return this.pick(Object.entries(values).filter(([type]) => type !== unwanted))[1];
  }
}

/** Matches a number in a valid review. */
export const portNumber = /(?<="containerPort":)\d+/;

/** Returns an AdmissionReview as an API server sends it, with replaced members. */
export function review(request: unknown, members: Members = {}): Members {
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request, ...members };
}

export type Head = { method?: string; path?: string; version?: string; contentType?: string | undefined; headers?: readonly string[] };

/** Returns the head of a request. Omits the header for the length of the body. */
export function head(target: HostileTarget, options: Head = {}): string {
  const { method = 'POST', path = `${target.path}?timeout=30s`, version = 'HTTP/1.1', headers = [] } = options;
  const contentType = 'contentType' in options ? options.contentType : 'application/json';
  const lines = [`${method} ${path} ${version}`, `Host: ${target.host}`, 'User-Agent: kube-apiserver-admission'];
  return [...lines, ...(contentType === undefined ? [] : [`Content-Type: ${contentType}`]), ...headers, ''].join('\r\n');
}

/** Returns a request with the correct Content-Length. */
export function framed(target: HostileTarget, body: string | Buffer, options: Head = {}): Buffer {
  const start = `${head(target, options)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(start, 'latin1'), typeof body === 'string' ? Buffer.from(body) : body]);
}

/** Returns a request with chunks of random sizes. */
export function chunked(random: Materials, target: HostileTarget, body: string): Buffer {
  const rest = Buffer.from(body);
  const pieces = [Buffer.from(`${head(target)}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let start = 0; start < rest.length;) {
    const piece = rest.subarray(start, start + 1 + random.below(Math.max(rest.length / 4, 16)));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    start += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
