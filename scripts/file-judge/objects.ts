import { readFileSync } from 'node:fs';
import type { Random } from '../template-recorder/random.ts';

/** A scalar that is written without quotes: a number, a word, or what a parser takes for one. */
export class Plain {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Members {
  readonly [name: string]: Value;
}

/** A value as an author means it. The style of its text is chosen later. */
export type Value = string | Plain | readonly Value[] | Members;

/** Texts that parsers confuse with others, usual texts, and numbers and words in all notations. */
const { oddTexts, plainTexts, scalars } = JSON.parse(
  readFileSync(new URL('texts.json', import.meta.url), 'utf8'),
) as Readonly<Record<'oddTexts' | 'plainTexts' | 'scalars', readonly string[]>>;
const rare = new Set(['.inf', '-.Inf', '.NaN', '1e400']);

/** Writes random Kubernetes objects, most of them with a pod template. */
export class Objects {
  readonly #random: Random;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns an object; `depth` is the number of lists around it. */
  object(depth = 0): Members {
    const random = this.#random;
    if (random.chance(depth === 0 ? 0.1 : 0.01)) {
      const items = random.chance(0.03) ? this.#nothing() : this.#some(4, () => this.object(depth + 1));
      const kind = random.pick(['List', 'List', 'List', 'DeploymentList', 'Things']);
      return { apiVersion: 'v1', kind, ...this.#maybe(0.3, 'metadata', () => ({})), items };
    }
    if (random.chance(0.35)) return this.#unrelated();
    const [apiVersion, kind] = random
      .pick([
        ...['v1 Pod', 'v1 Pod', 'apps/v1 Deployment', 'apps/v1 Deployment', 'apps/v1 StatefulSet', 'apps/v1 DaemonSet'],
        ...[
          'batch/v1 Job',
          'batch/v1 CronJob',
          'batch/v1beta1 CronJob',
          'apps/v1 ReplicaSet',
          'v1 ReplicationController',
        ],
        ...[
          'argoproj.io/v1alpha1 Rollout',
          'apps.kruise.io/v1alpha1 CloneSet',
          'apps.openshift.io/v1 DeploymentConfig',
        ],
        ...['serving.knative.dev/v1 Service'],
      ])
      .split(' ') as [string, string];
    const metadata = this.#metadata();
    if (kind === 'Pod') return this.#shuffled({ apiVersion, kind, metadata, spec: this.#podSpec() });
    const podMetadata = (): Value => (random.chance(0.01) ? this.#nothing() : this.#podMetadata());
    const template = { ...this.#maybe(0.8, 'metadata', podMetadata), spec: this.#podSpec() };
    const inner = kind === 'CronJob' ? { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } } : { template };
    const spec = {
      ...this.#maybe(0.5, 'replicas', () => new Plain(String(random.below(5)))),
      ...this.#maybe(0.5, 'selector', () => ({ matchLabels: { app: 'web' } })),
      ...(random.chance(0.03) ? {} : inner),
      ...this.#maybe(0.1, 'x-more', () => this.#anything(2)),
    };
    return this.#shuffled({ apiVersion, kind, metadata, spec, ...this.#maybe(0.1, 'status', () => this.#anything(2)) });
  }

  #unrelated(): Members {
    const metadata = this.#metadata();
    const data = (): Members => Object.fromEntries(this.#some(5, (at) => [`${this.#key()}${at}`, this.text()]));
    const objects: (() => Members)[] = [
      () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: data() }),
      () => ({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data(), type: 'Opaque' }),
      () => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: { ports: this.#ports('port'), selector: { app: 'web' } },
      }),
      () => ({
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata,
        spec: this.#anything(4),
        more: this.#anything(3),
      }),
    ];
    return this.#shuffled(this.#random.pick(objects)());
  }

  #metadata(): Members {
    this.#names += 1;
    return {
      name: `n${this.#names}`,
      ...this.#maybe(0.2, 'namespace', () => 'shop'),
      ...this.#maybe(0.3, 'labels', () => ({ app: 'web' })),
      ...this.#maybe(0.2, 'annotations', () => this.#strings()),
    };
  }

  #podMetadata(): Members {
    const random = this.#random;
    const annotations = (): Members => ({
      ...this.#strings(),
      ...this.#maybe(0.05, 'prometheus.io/port', () => '80'),
      ...this.#maybe(0.1, 'kubectl.kubernetes.io/default-container', () => 'c1'),
      ...this.#maybe(0.02, 'logs.example/collected', () => 'x'),
    });
    const labels = (): Members => ({
      app: 'web',
      ...this.#maybe(0.08, random.pick(['logs.example/inject', 'sidecar.istio.io/inject']), () => 'false'),
      ...this.#maybe(0.1, 'version', () => random.pick(['v1', new Plain('v2'), '1'])),
    });
    return {
      ...this.#maybe(0.8, 'labels', () => (random.chance(0.01) ? this.#nothing() : labels())),
      ...this.#maybe(0.4, 'annotations', () => (random.chance(0.02) ? this.#nothing() : annotations())),
      ...this.#maybe(0.1, 'creationTimestamp', () => new Plain('null')),
    };
  }

  #podSpec(): Members {
    const random = this.#random;
    const containers = this.#some(3, (at) => this.#container(`c${at + 1}`), 1);
    return this.#shuffled({
      ...this.#maybe(0.2, 'volumes', () => [
        ...this.#some(2, (at): Members => ({
          name: `v${at}`,
          emptyDir: random.chance(0.5) ? {} : { medium: 'Memory' },
        })),
        ...(random.chance(0.1) ? [{ name: 'logs', emptyDir: {} }] : []),
      ]),
      ...this.#maybe(0.2, 'initContainers', () => this.#some(2, (at) => this.#container(`i${at + 1}`))),
      containers,
      ...this.#maybe(0.1, 'tolerations', () => (random.chance(0.3) ? [] : [{ operator: 'Exists' }])),
      ...this.#maybe(0.1, 'affinity', () => (random.chance(0.1) ? this.#nothing() : {})),
      ...this.#maybe(0.005, 'volumes', () => this.#nothing()),
      ...this.#maybe(0.005, 'initContainers', () => this.#nothing()),
      ...this.#maybe(0.1, 'securityContext', () =>
        random.pick<Value>([{}, { fsGroup: new Plain('1337') }, { runAsNonRoot: new Plain('yes') }]),
      ),
      ...this.#maybe(0.05, 'hostNetwork', () => new Plain(random.pick(['true', 'yes', 'no']))),
      ...this.#maybe(0.1, 'imagePullSecrets', () => [{ name: 's' }]),
      ...this.#maybe(0.1, 'nodeSelector', () => this.#strings()),
      ...this.#maybe(0.1, 'terminationGracePeriodSeconds', () => new Plain(random.pick(['30', '0x1e', '036']))),
      ...this.#maybe(0.05, 'x-unknown', () => this.#anything(2)),
    });
  }

  #container(name: string): Members {
    const random = this.#random;
    const probe = (): Members => ({
      httpGet: { path: '/', port: random.chance(0.1) ? random.pick([new Plain('http'), 'http']) : new Plain('80') },
    });
    return this.#shuffled({
      name,
      image: random.pick(['web:1', 'example.com/web:1', 'example.com:5000/a/b@sha256:0123']),
      ...this.#maybe(0.3, 'args', () => this.#some(4, () => this.text())),
      ...this.#maybe(0.2, 'command', () => ['sh', '-c', this.text()]),
      ...this.#maybe(0.3, 'env', () => this.#some(3, (at): Members => ({ name: `E${at}`, value: this.text() }))),
      ...this.#maybe(0.2, 'ports', () => this.#ports('containerPort')),
      ...this.#maybe(0.2, 'resources', () =>
        random.pick<Value>([{}, { requests: { cpu: '1', memory: '1Gi' } }, { limits: { cpu: new Plain('2') } }]),
      ),
      ...this.#maybe(0.06, 'livenessProbe', probe),
      ...this.#maybe(0.06, 'readinessProbe', probe),
      ...this.#maybe(0.1, 'volumeMounts', () => [{ name: 'v0', mountPath: '/v' }]),
      ...this.#maybe(0.1, 'securityContext', () => ({
        runAsUser: new Plain(random.pick(['0', '1337', '0o17', '9007199254740993', '010'])),
      })),
      ...this.#maybe(0.03, 'x-unknown', () => this.#anything(2)),
    });
  }

  /** Returns null, or a member without a value. */
  #nothing(): Value {
    return new Plain(this.#random.pick(['', '', 'null', '~']));
  }

  #ports(name: string): Value {
    return this.#some(2, (at): Members => ({
      [name]: new Plain(String(80 + at)),
      ...this.#maybe(0.5, 'name', () => `p${at}`),
    }));
  }

  #strings(): Members {
    return Object.fromEntries(this.#some(3, (at) => [`${this.#key()}${at}`, this.text()]));
  }

  #key(): string {
    const odd = [
      'a b',
      '1',
      'yes',
      'a: b',
      "it's",
      '#x',
      '-',
      '\u00e9',
      'a\nb',
      '[',
      '"',
      '__proto__',
      '~',
      '.5',
      '1e3',
    ];
    return this.#random.chance(0.03) ? this.#random.pick(odd) : this.#random.pick(['k', 'example.com/k', 'K.', 'k_']);
  }

  /** Returns a text, with many that parsers read differently. */
  text(): string {
    const random = this.#random;
    if (random.chance(0.4)) return random.pick(plainTexts);
    if (random.chance(0.8)) return random.pick(oddTexts);
    const characters = Array.from('aaab10.:-#\n\n   "\'{}[],&*!|>%@`~yn_\t\\/=?<\r\u0007\u007f\u00e9\u2029\u{1f600}');
    return Array.from({ length: random.below(12) }, () => random.pick(characters)).join('');
  }

  /** Returns any value: what a custom resource may have. */
  #anything(depth: number): Value {
    const random = this.#random;
    if (depth > 0 && random.chance(0.4))
      return Object.fromEntries(this.#some(4, (at) => [`${this.#key()}${at}`, this.#anything(depth - 1)]));
    if (depth > 0 && random.chance(0.3)) return this.#some(4, () => this.#anything(depth - 1));
    if (random.chance(0.5)) return this.text();
    const text = random.pick(scalars);
    return new Plain(rare.has(text) && random.chance(0.8) ? '5' : text);
  }

  #maybe(share: number, name: string, value: () => Value): Members {
    return this.#random.chance(share) ? { [name]: value() } : {};
  }

  #some<Item>(most: number, make: (index: number) => Item, least = 0): Item[] {
    return Array.from({ length: least + this.#random.below(most + 1 - least) }, (_, index) => make(index));
  }

  /** Returns the members in their order, or sometimes in another. */
  #shuffled(members: Members): Members {
    if (!this.#random.chance(0.1)) return members;
    return Object.fromEntries(Object.entries(members).sort(() => this.#random.below(2) - 0.5));
  }
}
