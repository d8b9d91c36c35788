import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { containersOf, refusal } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { freePort } from '../../harness/free-port.ts';
import { injectorOutput, runInjector } from '../../harness/injector-command.ts';
import { ManagedProcess } from '../../harness/managed-process.ts';
import { paths } from '../../harness/paths.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { shakeHands } from '../../harness/tls-observer/handshake.ts';
import { found } from '../../harness/wait-for.ts';
import { barePod } from '../../harness/workloads.ts';

const service = 'served-injector';
const label = 'e2e.sidecar-injector.io/served';

/** A webhook without an operator, as Istio's 1.x days had it: `serve` with certificates from `certs create`, trusted by `certs patch-ca-bundle`. */
class ServedWebhook {
  readonly context: ScenarioContext;
  readonly namespace: string;
  readonly #port: number;
  readonly #directory: string;

  constructor(context: ScenarioContext, namespace: string, port: number) {
    this.context = context;
    this.namespace = namespace;
    this.#port = port;
    this.#directory = join(context.cluster.run.path, 'certs-commands');
  }

  path(...parts: string[]): string {
    return join(this.#directory, ...parts);
  }

  create(directory: string, ...flags: string[]): ReturnType<typeof runInjector> {
    const target = ['--service', service, '--namespace', this.namespace, '--out', this.path(directory)];
    return runInjector(['certs', 'create', ...target, ...flags]);
  }

  async trust(directory: string): Promise<void> {
    const { out } = await injectorOutput(
      ['certs', 'patch-ca-bundle', '--ca', this.path(directory, 'ca.crt')],
      this.yaml(),
    );
    await applyObject(this.context.client, load(out) as KubernetesObject);
  }

  yaml(): string {
    return `# the webhook of injector serve
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: ${service}
webhooks:
- name: served.example.com
  clientConfig:
    service: {name: ${service}, namespace: ${this.namespace}, path: /inject, port: ${this.#port}}
    caBundle: \${CA_BUNDLE}
  rules:
  - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}
  namespaceSelector: {matchLabels: {${label}: "true"}}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
`;
  }

  async serve(directory: string): Promise<ManagedProcess> {
    mkdirSync(this.path('config'), { recursive: true });
    const template = `spec:\n      containers:\n      - name: served\n        image: example.com/served:1\n`;
    const config = `policy: enabled\ndefaultTemplates: [sidecar]\ntemplates:\n  sidecar: |\n    ${template}`;
    writeFileSync(this.path('config', 'config'), config);
    const { run } = this.context.cluster;
    const flags = [
      ...['--config-dir', this.path('config'), '--host', '127.0.0.1', '--port', String(this.#port)],
      ...['--tls-cert', this.path(directory, 'tls.crt'), '--tls-key', this.path(directory, 'tls.key')],
      '--drain-seconds=0',
    ];
    const server = new ManagedProcess({
      name: 'serve',
      command: process.execPath,
      arguments: [paths.injector, 'serve', ...flags],
      logFile: join(run.path, 'serve.log'),
      onSpawn: run.recordProcess,
    });
    server.start();
    await server.waitUntilReady(async () => (await this.shake(directory)).fault === undefined, 20_000);
    return server;
  }

  shake(directory: string): ReturnType<typeof shakeHands> {
    const authorities = readFileSync(this.path(directory, 'ca.crt'), 'utf8');
    return shakeHands(this.#port, `${service}.${this.namespace}.svc`, authorities);
  }

  /** What serve is given: the three files of another directory in place of its own. */
  copy(from: string, to: string): void {
    for (const file of ['ca.crt', 'tls.key', 'tls.crt']) copyFileSync(this.path(from, file), this.path(to, file));
  }
}

/** `certs create`, `serve` and `certs patch-ca-bundle` in place of the two scripts of Istio's 1.x days, then the renewal that the runbook describes. */
export async function checkServedWebhook(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('serve');
  const selected = await context.namespace('served', { [label]: 'true' });
  const webhook = new ServedWebhook(context, namespace, await freePort());
  const spec = { type: 'ExternalName', externalName: context.cluster.advertiseHost };
  await client.create({ apiVersion: 'v1', kind: 'Service', metadata: { name: service, namespace }, spec });
  const injected = async () => (await containersOf(client, selected)).includes('served');

  const created = await webhook.create('first');
  await context.checkNow(
    `certs create: three files for ${service}.${namespace}.svc, a year long, in ${created.milliseconds} ms`,
    () => created.code === 0 && created.errors.includes('nobody renews it'),
  );
  const again = await webhook.create('first');
  await context.checkNow('a second time: refused, since the files are there', () => found(String(again.code), '2'));
  await webhook.create('stranger');
  const server = await webhook.serve('first');
  try {
    await webhook.trust('stranger');
    await context.check('control: trusted is another authority, and pods are refused', async () =>
      (await refusal(client, barePod(selected, 'pod')))?.includes('x509'),
    );
    await webhook.trust('first');
    await context.check('certs patch-ca-bundle < webhook.yaml, applied: a pod is injected by serve', injected);
    await checkRenewal(webhook, injected);
    await checkSecret(webhook);
  } finally {
    await server.kill();
    await client.delete(load(webhook.yaml()) as KubernetesObject);
  }
}

/** As the runbook says: a successor that trusts old and new, first its authorities, then its certificate. */
async function checkRenewal(webhook: ServedWebhook, injected: () => Promise<boolean>): Promise<void> {
  const { context } = webhook;
  const before = (await webhook.shake('first')).leaf?.fingerprint256;
  await webhook.create('next', '--previous', webhook.path('first', 'ca.crt'));
  await webhook.trust('next');
  await context.check(
    'certs create --previous: its authorities are trusted first, and the old certificate still is',
    injected,
  );
  webhook.copy('next', 'first');
  await context.check('then the files are replaced: serve takes the new certificate over by itself', async () => {
    const { leaf, fault } = await webhook.shake('next');
    return fault === undefined && leaf?.fingerprint256 !== before;
  });
  await context.check('and pods are injected', injected);
}

async function checkSecret(webhook: ServedWebhook): Promise<void> {
  const { context, namespace } = webhook;
  const { code, out } = await webhook.create('nowhere', '--secret', 'served-tls');
  const stored = await context.client.create(load(out) as KubernetesObject);
  await context.checkNow(
    'certs create --secret: a Secret that the API server takes, and no file',
    () =>
      code === 0 &&
      !existsSync(webhook.path('nowhere')) &&
      found(
        `${stored.metadata.namespace ?? ''}/${stored.metadata.name ?? ''} ${String(stored['type'])}`,
        `${namespace}/served-tls kubernetes.io/tls`,
      ),
  );
}
