import type { X509Certificate } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/bundle.ts';
import { containersOf, refusal } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import { freePort } from '../harness/free-port.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { paths } from '../harness/paths.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { shakeHands } from '../harness/tls-observer/handshake.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { redirected, webhookOf } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const certsCommands: Scenario = {
  name: 'certs-commands',
  about:
    'injector certs status, rotate, export-ca against a living operator; certs create, serve and certs patch-ca-bundle without one',
  paired: true,
  destructive: 'its webhook takes pods of namespaces with its own label',
  run: async (context) => {
    const { leaf, authority, force } = await checkOperatorCommands(context);
    await checkServedWebhook(context);
    context.measured({ leafMilliseconds: leaf, authorityMilliseconds: authority, forcedMilliseconds: force });
    return `rotate --wait ${leaf} ms, --ca ${authority} ms, --ca --force ${force} ms; a pod injected by serve with certificates of certs create`;
  },
};

const name = 'commanded';
const names = objectNames(name);
/** Nothing is due before the scenario has ended, however slow the machine is: what is renewed was asked for. */
const certificate = { leafDuration: '240h', caDuration: '8760h', confirmationPeriod: '60s' };

interface StatusReport {
  name: string;
  fingerprint?: string;
  phase: string;
  problems: string[];
}

class CommandedOperator {
  readonly context: ScenarioContext;
  readonly operator: OperatorProcess;
  readonly #namespace: string;
  readonly username: string;

  private constructor(context: ScenarioContext, operator: OperatorProcess, installation: Installation) {
    this.context = context;
    this.operator = operator;
    this.#namespace = installation.namespace;
    this.username = installation.username;
  }

  /** A minute of a certificate's life is a second. Pods are not followed: nothing here needs it. */
  static async start(context: ScenarioContext): Promise<CommandedOperator> {
    const installation = await context.install({ operator: { followPods: false } });
    const operator = await installation.startOperator({
      flags: ['--test-certificate-time-scale=60', '--drain-seconds=0'],
    });
    const config = smallConfig(name);
    await applyUntilReady(context.client, { ...config, spec: { ...config.spec, certificate } });
    return new CommandedOperator(context, operator, installation);
  }

  run(...argv: string[]): ReturnType<typeof runInjector> {
    return runInjector(['certs', ...argv, ...clusterFlags(this.context.cluster)]);
  }

  async output(...argv: string[]): Promise<string> {
    const { out } = await injectorOutput(['certs', ...argv, ...clusterFlags(this.context.cluster)]);
    return out;
  }

  async status(): Promise<StatusReport> {
    const [report] = JSON.parse(await this.output('status', name, '-o', 'json')) as StatusReport[];
    if (report === undefined) throw new Error('certs status reports nothing');
    return report;
  }

  /** What the replica shows to a TLS client of our own that trusts what `export-ca` prints; its fingerprint in lower-case hex. */
  async served(): Promise<string> {
    const host = serviceHostName(names.service, this.#namespace);
    const { leaf, fault } = await shakeHands(this.operator.webhookPort, host, await this.output('export-ca', name));
    if (leaf === undefined || fault !== undefined)
      throw new Error(`the certificate is not trusted: ${fault ?? 'none'}`);
    return fingerprintOf(leaf);
  }

  /** Waits until the replica shows another certificate, which it takes over from its Secret by itself; its fingerprint. */
  servedOtherThan(before: string): Promise<string> {
    return waitFor('another certificate to be served', async () => {
      const served = await this.served();
      return served !== before && served;
    });
  }

  async authorities(): Promise<string[]> {
    return parseBundle(await this.output('export-ca', name)).map(({ fingerprint }) => fingerprint);
  }
}

/** What an operator's certificates are asked for: status, renewals in all three ways, the authorities; and what is said when it cannot be done. */
async function checkOperatorCommands(context: ScenarioContext) {
  const audit = context.startAudit();
  const commanded = await CommandedOperator.start(context);
  const first = await commanded.status();
  const firstServed = await commanded.served();
  await context.checkNow(
    'certs status knows the certificate that a TLS client is shown, which what export-ca prints verifies',
    () => first.problems.length === 0 && found(first.fingerprint ?? '', firstServed),
  );
  const milliseconds = await checkRotations(commanded, firstServed);
  await checkMistakes(commanded);
  await checkTrouble(commanded);
  const asked = (audit?.events() ?? []).filter(({ user }) => user.username === commanded.username);
  await context.checkNow(
    'operator.followPods is false: in all that time the leader has asked for no pod and no namespace',
    () => !asked.some(({ objectRef }) => ['pods', 'namespaces'].includes(objectRef?.resource ?? '')),
  );
  return milliseconds;
}

async function checkRotations(commanded: CommandedOperator, firstServed: string) {
  const { context } = commanded;
  const [firstAuthority = ''] = await commanded.authorities();
  const rotate = async (...flags: string[]) => {
    const result = await commanded.run('rotate', name, ...flags, '--wait');
    if (result.code !== 0) throw new Error(result.errors);
    for (const line of result.errors.trimEnd().split('\n')) context.say(`  ${line}`);
    return result;
  };

  const leaf = await rotate();
  const second = await commanded.servedOtherThan(firstServed);
  const afterLeaf = await commanded.authorities();
  await context.checkNow(
    `rotate --wait: another certificate of the same authority after ${leaf.milliseconds} ms`,
    () => second !== firstServed && found(afterLeaf.join(), firstAuthority),
  );
  const authority = await rotate('--ca');
  const third = await commanded.servedOtherThan(second);
  const both = await commanded.authorities();
  await context.checkNow(
    `rotate --ca --wait: another authority beside the old one after ${authority.milliseconds} ms`,
    () => ![firstServed, second].includes(third) && both.length === 2 && both.includes(firstAuthority),
  );
  const force = await rotate('--ca', '--force');
  const fourth = await commanded.servedOtherThan(third);
  const last = await commanded.authorities();
  await context.checkNow(
    `rotate --ca --force --wait: one authority that is none of those before after ${force.milliseconds} ms`,
    () => ![firstServed, second, third].includes(fourth) && last.length === 1 && !both.includes(last[0] ?? ''),
  );
  const { out } = await commanded.run('status', name);
  await context.checkNow('certs status shows the certificate, and the authority that is trusted', () =>
    [name, fourth.slice(0, 8), `${names.webhookConfiguration}=${last[0]?.slice(0, 8) ?? ''}`].every((part) =>
      out.includes(part),
    ),
  );
  return { leaf: leaf.milliseconds, authority: authority.milliseconds, force: force.milliseconds };
}

async function checkMistakes(commanded: CommandedOperator): Promise<void> {
  const mistakes: [argv: string[], says: RegExp][] = [
    [['rotate', name, '--force'], /--force: goes with --ca/],
    [['rotate', 'nobody'], /nobody does not exist; there are: commanded/],
    [['export-ca', 'nobody'], /nobody does not exist/],
    [['status', 'nobody'], /nobody does not exist/],
  ];
  for (const [argv, says] of mistakes) {
    const { code, errors } = await commanded.run(...argv);
    await commanded.context.checkNow(
      `certs ${argv.join(' ')}: exit status 2, and what to do`,
      () => says.test(errors) && found(String(code), '2'),
    );
  }
}

/** The operator is away and somebody empties the caBundle: status says so, export-ca has nothing, a rotation waits for its operator. */
async function checkTrouble(commanded: CommandedOperator): Promise<void> {
  const { context, operator } = commanded;
  const { client } = context;
  await operator.process.stop(30_000);
  const webhook = await webhookOf(client, name);
  await client.patch(webhook, 'merge', { webhooks: redirected(webhook, { caBundle: null }) });
  const status = await commanded.run('status', name);
  const bundle = await commanded.run('export-ca', name);
  const rotation = await commanded.run('rotate', name, '--wait', '--timeout', '2');
  await context.checkNow(
    'a caBundle is emptied while the operator is away: status ends with 1 and says what API servers do',
    () => status.code === 1 && status.errors.includes('the API server refuses the certificate'),
  );
  await context.checkNow(
    'export-ca ends with 1 and says where to look',
    () => bundle.code === 1 && bundle.out === '' && bundle.errors.includes('injector certs status says why'),
  );
  await context.checkNow(
    'rotate --wait --timeout 2 ends with 1, and the request stays',
    () => rotation.code === 1 && rotation.errors.includes('no operator has answered in time'),
  );
  await operator.restart();
  await context.check('the operator is back: the request is carried out, and status finds nothing', async () => {
    const report = await commanded.status();
    return report.problems.length === 0 && report.fingerprint === (await commanded.served());
  });
}

function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}

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
async function checkServedWebhook(context: ScenarioContext): Promise<void> {
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
