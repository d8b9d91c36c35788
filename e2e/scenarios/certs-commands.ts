import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
import { readBundle } from '../harness/tls-observer/rotating-cluster.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { barePod } from '../harness/workloads.ts';

export const certsCommands: Scenario = {
  name: 'certs-commands',
  about:
    'injector certs status, rotate and export-ca work with a running operator; certs create, serve and certs patch-ca-bundle work without one',
  destructive: 'it creates a webhook that selects all namespaces with a label',
  run: async (context) => {
    const { leaf, authority, force } = await checkOperatorCommands(context);
    await checkServedWebhook(context);
    context.measured({ leafMilliseconds: leaf, authorityMilliseconds: authority, forcedMilliseconds: force });
    return `rotate --wait ${leaf} ms, --ca ${authority} ms, --ca --force ${force} ms; serve, with certificates from certs create, injected a pod`;
  },
};

const name = 'commands';
const names = objectNames(name);
/** Durations so long that the operator renews certificates only on request. */
const certificate = { leafDuration: '240h', caDuration: '8760h', confirmationPeriod: '60s' };

type RunningOperator = Awaited<ReturnType<typeof startScaledOperator>>;

/** Starts an operator that has no pods and divides the durations of certificates by 60. */
async function startScaledOperator(context: ScenarioContext) {
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
  const bundle = () => readBundle(context, name);
  /** Verifies the served certificate with these authorities, or with the caBundle. */
  const served = async (authorities?: string) => {
    const host = serviceHostName(names.service, namespace);
    const { leaf, fault } = await shakeHands(operator.webhookPort, host, authorities ?? (await bundle()));
    if (leaf === undefined || fault !== undefined)
      throw new Error(`the certificate is not trusted: ${fault ?? 'the replica sent none'}`);
    return leaf.fingerprint256.replaceAll(':', '').toLowerCase();
  };
  const authorities = async () => parseBundle(await bundle()).map(({ fingerprint }) => fingerprint);
  return { context, username, run, output, status, served, authorities };
}

/** Checks status, export-ca and the three kinds of rotation. */
async function checkOperatorCommands(context: ScenarioContext) {
  const audit = context.startAudit();
  const running = await startScaledOperator(context);
  const first = await running.status();
  const firstServed = await running.served(await running.output('export-ca', name));
  await context.checkNow(
    'certs status shows the certificate that a TLS client receives, and the output of export-ca verifies it',
    () => first.problems.length === 0 && found(first.fingerprint ?? '', firstServed),
  );
  const milliseconds = await checkRotations(running, firstServed);
  // Dry runs (operator.dryRunPods) create pods, and store none.
  const requests = (audit?.events() ?? []).filter(
    ({ user, requestURI }) => user.username === running.username && !requestURI.includes('dryRun=All'),
  );
  await context.checkNow(
    'with operator.followPods=false, the leader requested no pods and no namespaces',
    () => !requests.some(({ objectRef }) => ['pods', 'namespaces'].includes(objectRef?.resource ?? '')),
  );
  return milliseconds;
}

async function checkRotations(running: RunningOperator, firstServed: string) {
  const { context } = running;
  const [firstAuthority = ''] = await running.authorities();
  const seen = [firstServed];
  /** Requests a rotation, and waits until the replica serves another certificate. */
  const rotate = async (...flags: string[]) => {
    const { code, errors, milliseconds } = await running.run('rotate', name, ...flags, '--wait');
    if (code !== 0) throw new Error(errors);
    for (const line of errors.trimEnd().split('\n')) context.say(`  ${line}`);
    const served = await waitFor('another certificate to be served', async () => {
      const now = await running.served();
      return now !== seen.at(-1) && now;
    });
    const isNew = !seen.includes(served);
    seen.push(served);
    return { milliseconds, served, isNew, authorities: await running.authorities() };
  };

  const leaf = await rotate();
  await context.checkNow(
    `rotate --wait ends after ${leaf.milliseconds} ms, and the replica serves another certificate of the same authority`,
    () => leaf.isNew && found(leaf.authorities.join(), firstAuthority),
  );
  const authority = await rotate('--ca');
  const both = authority.authorities;
  await context.checkNow(
    `rotate --ca --wait ends after ${authority.milliseconds} ms, and the bundle contains the new and the old authority`,
    () => authority.isNew && both.length === 2 && both.includes(firstAuthority),
  );
  const force = await rotate('--ca', '--force');
  const [last = '', ...others] = force.authorities;
  await context.checkNow(
    `rotate --ca --force --wait ends after ${force.milliseconds} ms, and the bundle contains only a new authority`,
    () => force.isNew && last !== '' && others.length === 0 && !both.includes(last),
  );
  const { out } = await running.run('status', name);
  const row = new RegExp(`^${name} +Stable +${force.served.slice(0, 8)} +\\d+[hm] +\\d+[hm] +\\d+d$`, 'm');
  await context.checkNow(
    'certs status shows the certificate and its trusted authority',
    () => row.test(out) && out.includes(`${names.webhookConfiguration}=${last.slice(0, 8)}`),
  );
  await checkRefusal(running);
  return { leaf: leaf.milliseconds, authority: authority.milliseconds, force: force.milliseconds };
}

/** Checks that `certs rotate` refuses at once what the operator would refuse later. */
async function checkRefusal({ context, run }: RunningOperator): Promise<void> {
  const config = smallConfig('given');
  const given = { provider: 'Secret', secretRef: { name: 'given-tls' } };
  await applyObject(context.client, { ...config, spec: { ...config.spec, certificate: given } });
  const { code, errors } = await run('rotate', 'given');
  const advice = /so the operator issues no certificate; replace tls\.crt and tls\.key in Secret \S+\/given-tls/;
  await context.checkNow('certs rotate refuses a certificate that comes from a Secret, and says what to do', () =>
    found(`${code} ${advice.test(errors)}`, '1 true'),
  );
}

const service = 'served-injector';
const label = 'e2e.sidecar-injector.io/served';

type ServedWebhook = ReturnType<typeof servedWebhook>;

/** Prepares a webhook that no operator manages, as in early Istio 1.x. */
function servedWebhook(context: ScenarioContext, namespace: string, port: number) {
  const { run } = context.cluster;
  const path = (...parts: string[]) => join(run.path, 'certs-commands', ...parts);
  const create = (directory: string, ...flags: string[]) => {
    const out = ['--out', path(directory)];
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
      run,
    });
    server.start();
    await server.waitUntilReady(async () => (await shake(directory)).fault === undefined, 20_000);
    return server;
  };
  return { context, path, create, yaml, trust, shake, serve };
}

/** Checks `certs create`, `serve`, `certs patch-ca-bundle`, and a renewal. */
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
    `certs create writes a certificate for ${service}.${namespace}.svc in ${created.milliseconds} ms, and warns that it is not renewed automatically`,
    () => created.code === 0 && created.errors.includes('the certificate is not renewed automatically'),
  );
  await webhook.create('unrelated');
  const server = await webhook.serve('first');
  try {
    await webhook.trust('unrelated');
    await context.check('negative control: pods are refused while an unrelated authority is trusted', async () =>
      (await refusal(client, barePod(selected, 'pod')))?.includes('x509'),
    );
    await webhook.trust('first');
    await context.check('after the output of certs patch-ca-bundle is applied, serve injects a pod', injected);
    await checkRenewal(webhook, injected);
  } finally {
    await server.kill();
    await client.delete(load(webhook.yaml) as KubernetesObject);
  }
}

/** Renews as the runbook says: the caBundle gets both authorities, then the files change. */
async function checkRenewal(webhook: ServedWebhook, injected: () => Promise<boolean>): Promise<void> {
  const { context, path } = webhook;
  const before = (await webhook.shake('first')).leaf?.fingerprint256;
  await webhook.create('next', '--previous', path('first', 'ca.crt'));
  await webhook.trust('next');
  await context.check('with the bundle of certs create --previous, the old certificate is still trusted', injected);
  for (const file of ['ca.crt', 'tls.key', 'tls.crt']) copyFileSync(path('next', file), path('first', file));
  await context.check('serve loads the new certificate without a restart after its files are replaced', async () => {
    const { leaf, fault } = await webhook.shake('next');
    return fault === undefined && leaf?.fingerprint256 !== before;
  });
  await context.check('pods are injected after the renewal', injected);
}
