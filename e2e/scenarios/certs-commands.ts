import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/read-certificate.ts';
import { containersOf, refusal } from '../harness/admissions.ts';
import { applyObject } from '../harness/apply.ts';
import { freePort } from '../harness/free-port.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { ManagedProcess } from '../harness/managed-process.ts';
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

type Commanded = Awaited<ReturnType<typeof startCommanded>>;

/** An operator, and what its commands say. A minute of a certificate's life is a second. Pods are not followed: nothing here needs it. */
async function startCommanded(context: ScenarioContext) {
  const { namespace, username, startOperator } = await context.install({ operator: { followPods: false } });
  const operator = await startOperator({ flags: ['--test-certificate-time-scale=60', '--drain-seconds=0'] });
  const config = smallConfig(name);
  await applyUntilReady(context.client, { ...config, spec: { ...config.spec, certificate } });
  const argv = (words: string[]) => ['certs', ...words, ...clusterFlags(context.cluster)];
  const run = (...words: string[]) => runInjector(argv(words));
  const output = async (...words: string[]) => (await injectorOutput(argv(words))).out;
  const status = async () => {
    const [report] = JSON.parse(await output('status', name, '-o', 'json')) as [
      { fingerprint?: string; problems: string[] },
    ];
    return report;
  };
  /** What the replica shows to a TLS client of our own that trusts what `export-ca` prints; its fingerprint in lower-case hex. */
  const served = async () => {
    const host = serviceHostName(names.service, namespace);
    const { leaf, fault } = await shakeHands(operator.webhookPort, host, await output('export-ca', name));
    if (leaf === undefined || fault !== undefined)
      throw new Error(`the certificate is not trusted: ${fault ?? 'none'}`);
    return leaf.fingerprint256.replaceAll(':', '').toLowerCase();
  };
  const authorities = async () => parseBundle(await output('export-ca', name)).map(({ fingerprint }) => fingerprint);
  return { context, operator, username, run, status, served, authorities };
}

/** What an operator's certificates are asked for: status, renewals in all three ways, the authorities; and what is said while the operator is away. */
async function checkOperatorCommands(context: ScenarioContext) {
  const audit = context.startAudit();
  const commanded = await startCommanded(context);
  const first = await commanded.status();
  const firstServed = await commanded.served();
  await context.checkNow(
    'certs status knows the certificate that a TLS client is shown, which what export-ca prints verifies',
    () => first.problems.length === 0 && found(first.fingerprint ?? '', firstServed),
  );
  const milliseconds = await checkRotations(commanded, firstServed);
  await checkTrouble(commanded);
  const asked = (audit?.events() ?? []).filter(({ user }) => user.username === commanded.username);
  await context.checkNow(
    'operator.followPods is false: in all that time the leader has asked for no pod and no namespace',
    () => !asked.some(({ objectRef }) => ['pods', 'namespaces'].includes(objectRef?.resource ?? '')),
  );
  return milliseconds;
}

async function checkRotations(commanded: Commanded, firstServed: string) {
  const { context } = commanded;
  const [firstAuthority = ''] = await commanded.authorities();
  const seen = [firstServed];
  /** Asks for it, and waits until the replica shows a certificate unlike the last one, which it takes over from its Secret by itself. */
  const rotate = async (...flags: string[]) => {
    const { code, errors, milliseconds } = await commanded.run('rotate', name, ...flags, '--wait');
    if (code !== 0) throw new Error(errors);
    for (const line of errors.trimEnd().split('\n')) context.say(`  ${line}`);
    const served = await waitFor('another certificate to be served', async () => {
      const now = await commanded.served();
      return now !== seen.at(-1) && now;
    });
    const isNew = !seen.includes(served);
    seen.push(served);
    return { milliseconds, served, isNew, authorities: await commanded.authorities() };
  };

  const leaf = await rotate();
  await context.checkNow(
    `rotate --wait: another certificate of the same authority after ${leaf.milliseconds} ms`,
    () => leaf.isNew && found(leaf.authorities.join(), firstAuthority),
  );
  const authority = await rotate('--ca');
  const both = authority.authorities;
  await context.checkNow(
    `rotate --ca --wait: another authority beside the old one after ${authority.milliseconds} ms`,
    () => authority.isNew && both.length === 2 && both.includes(firstAuthority),
  );
  const force = await rotate('--ca', '--force');
  const [last = '', ...others] = force.authorities;
  await context.checkNow(
    `rotate --ca --force --wait: one authority that is none of those before after ${force.milliseconds} ms`,
    () => force.isNew && last !== '' && others.length === 0 && !both.includes(last),
  );
  const { out } = await commanded.run('status', name);
  await context.checkNow('certs status shows the certificate, and the authority that is trusted', () =>
    [name, force.served.slice(0, 8), `${names.webhookConfiguration}=${last.slice(0, 8)}`].every((part) =>
      out.includes(part),
    ),
  );
  return { leaf: leaf.milliseconds, authority: authority.milliseconds, force: force.milliseconds };
}

/** The operator is away and somebody empties the caBundle: status says so, export-ca has nothing, a rotation waits for its operator. */
async function checkTrouble(commanded: Commanded): Promise<void> {
  const { context, operator } = commanded;
  const { client } = context;
  await operator.process.stop(30_000);
  const webhook = await webhookOf(client, name);
  await client.patch(webhook, 'merge', { webhooks: redirected(webhook, { caBundle: null }) });
  const bundle = await commanded.run('export-ca', name);
  const rotation = await commanded.run('rotate', name, '--wait', '--timeout', '2');
  await context.check(
    'a caBundle is emptied while the operator is away: status ends with 1 and says what API servers do',
    async () => {
      const { code, errors } = await commanded.run('status', name);
      const isSaid = errors.includes('the API server refuses the certificate');
      return found(`${code}: ${isSaid ? '' : errors}`, '1: ');
    },
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

const service = 'served-injector';
const label = 'e2e.sidecar-injector.io/served';

type ServedWebhook = ReturnType<typeof servedWebhook>;

/** A webhook without an operator, as Istio's 1.x days had it: `serve` with certificates from `certs create`, trusted by `certs patch-ca-bundle`. */
function servedWebhook(context: ScenarioContext, namespace: string, port: number) {
  const { run } = context.cluster;
  const path = (...parts: string[]) => join(run.path, 'certs-commands', ...parts);
  const create = (directory: string, ...flags: string[]) => {
    const out = flags.includes('--secret') ? [] : ['--out', path(directory)];
    return runInjector(['certs', 'create', '--service', service, '--namespace', namespace, ...out, ...flags]);
  };
  const yaml = `# the webhook of injector serve
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: ${service}
webhooks:
- name: served.example.com
  clientConfig:
    service: {name: ${service}, namespace: ${namespace}, path: /inject, port: ${port}}
    caBundle: \${CA_BUNDLE}
  rules:
  - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}
  namespaceSelector: {matchLabels: {${label}: "true"}}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
`;
  const trust = async (directory: string) => {
    const { out } = await injectorOutput(['certs', 'patch-ca-bundle', '--ca', path(directory, 'ca.crt')], yaml);
    await applyObject(context.client, load(out) as KubernetesObject);
  };
  const shake = (directory: string) => {
    const authorities = readFileSync(path(directory, 'ca.crt'), 'utf8');
    return shakeHands(port, `${service}.${namespace}.svc`, authorities);
  };
  const serve = async (directory: string) => {
    mkdirSync(path('config'), { recursive: true });
    const template = `spec:\n      containers:\n      - name: served\n        image: example.com/served:1\n`;
    const config = `policy: enabled\ndefaultTemplates: [sidecar]\ntemplates:\n  sidecar: |\n    ${template}`;
    writeFileSync(path('config', 'config'), config);
    const flags = [
      ...['--config-dir', path('config'), '--host', '127.0.0.1', '--port', String(port)],
      ...['--tls-cert', path(directory, 'tls.crt'), '--tls-key', path(directory, 'tls.key')],
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
    await server.waitUntilReady(async () => (await shake(directory)).fault === undefined, 20_000);
    return server;
  };
  return { context, namespace, path, create, yaml, trust, shake, serve };
}

/** `certs create`, `serve` and `certs patch-ca-bundle` in place of the two scripts of Istio's 1.x days, then the renewal that the runbook describes. */
async function checkServedWebhook(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('serve');
  const selected = await context.namespace('served', { [label]: 'true' });
  const webhook = servedWebhook(context, namespace, await freePort());
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
    await client.delete(load(webhook.yaml) as KubernetesObject);
  }
}

/** As the runbook says: a successor that trusts old and new, first its authorities, then its certificate. */
async function checkRenewal(webhook: ServedWebhook, injected: () => Promise<boolean>): Promise<void> {
  const { context, path } = webhook;
  const before = (await webhook.shake('first')).leaf?.fingerprint256;
  await webhook.create('next', '--previous', path('first', 'ca.crt'));
  await webhook.trust('next');
  await context.check(
    'certs create --previous: its authorities are trusted first, and the old certificate still is',
    injected,
  );
  for (const file of ['ca.crt', 'tls.key', 'tls.crt']) copyFileSync(path('next', file), path('first', file));
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
