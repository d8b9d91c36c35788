import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateRsaKeyPair } from '../../../src/certs/key-pair.ts';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { companyAuthority } from '../../harness/company-authority.ts';
import { freePort } from '../../harness/free-port.ts';
import { answersOk, ManagedProcess } from '../../harness/managed-process.ts';
import { objectOf } from '../../harness/apply.ts';
import { paths } from '../../harness/paths.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { webhookNamed, webhooks } from '../../harness/webhook-configurations.ts';
import { istioTexts } from '../istio-templates/istio-texts.ts';

const configurationName = 'istio-sidecar-injector';

/** A process that answers as istiod does, and the objects of Istio's chart. */
export interface StubIstiod {
  readonly namespace: string;
  /** Installs the webhooks, or applies the chart again, as Helm does from the client. */
  readonly applyChart: () => Promise<void>;
  readonly removeWebhooks: () => Promise<void>;
  readonly configuration: () => Promise<KubernetesObject>;
}

/** Starts `injector serve` with Istio's templates; as istiod, it writes no annotation of ours. */
export async function startStubIstiod(context: ScenarioContext): Promise<StubIstiod> {
  const { client } = context;
  const { texts } = istioTexts();
  const namespace = await context.namespace('istio');
  for (const [name, data] of [
    [configurationName, { config: texts.config, values: texts.values }],
    ['istio', { mesh: texts.mesh }],
  ] as const)
    await client.create({ ...objectOf('v1', 'ConfigMap', name, namespace), data });
  const { caBundle, port } = await serve(context);
  const desired = chartWebhooks(`https://127.0.0.1:${port}/inject`, caBundle);
  const how = { fieldManager: 'helm' };
  context.atEnd(async () => {
    if ((await client.find(webhooks, configurationName)) !== undefined)
      await client.delete(webhookNamed(configurationName));
  });
  return {
    namespace,
    applyChart: async () => {
      const live = await client.find(webhooks, configurationName);
      if (live === undefined) await client.create({ ...webhookNamed(configurationName), webhooks: desired }, how);
      // Helm's three-way merge restores the fields of the chart, and leaves other annotations.
      else await client.patch(live, 'merge', { webhooks: desired }, how);
    },
    removeWebhooks: () => client.delete(webhookNamed(configurationName)),
    configuration: () => client.get(webhooks, configurationName),
  };
}

async function serve(context: ScenarioContext): Promise<{ caBundle: string; port: number }> {
  const { texts } = istioTexts();
  const { run } = context.cluster;
  const folder = join(run.path, 'istiod');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries<string>({ ...texts })) writeFileSync(join(folder, name), text);
  const { publicKeyPem, privateKeyPem } = await generateRsaKeyPair(2048);
  const authority = await companyAuthority('istiod', false);
  const [certificate, key] = [join(run.path, 'istiod.crt'), join(run.path, 'istiod.key')];
  writeFileSync(certificate, authority.sign(publicKeyPem, 'istiod', ['127.0.0.1'], 3_600_000));
  writeFileSync(key, privateKeyPem);
  const port = await freePort();
  const kubelets = (await context.client.listAll<Node>(resourceKind('v1', 'Node'))).items;
  const flags = [
    ...['--config-dir', folder, '--host', '127.0.0.1', '--port', String(port), '--tls-cert', certificate],
    ...['--tls-key', key, '--drain-seconds=0', '--kubelet-version'],
    ...kubelets.map(({ status }) => status.nodeInfo.kubeletVersion),
  ];
  const istiod = new ManagedProcess({
    name: 'istiod',
    command: process.execPath,
    arguments: [paths.injector, 'serve', ...flags],
    run,
  });
  istiod.start();
  context.atEnd(() => istiod.kill());
  await istiod.waitUntilReady(() => answersOk(`https://127.0.0.1:${port}/readyz`, authority.root), 20_000);
  return { caBundle: Buffer.from(authority.root).toString('base64'), port };
}

interface Node {
  status: { nodeInfo: { kubeletVersion: string } };
}

/** Returns the webhooks of Istio's chart for the default revision. */
function chartWebhooks(url: string, caBundle: string): object[] {
  const expression = (key: string, operator: string, ...values: string[]) =>
    values.length === 0 ? { key, operator } : { key, operator, values };
  const selector = (...matchExpressions: object[]) => ({ matchExpressions });
  const absent = (key: string) => expression(key, 'DoesNotExist');
  const notOptedOut = expression('sidecar.istio.io/inject', 'NotIn', 'false');
  const isDefault = expression('istio.io/rev', 'In', 'default');
  const unlabelled = [absent('istio.io/rev'), absent('istio-injection')];
  const pairs: [string, object, object][] = [
    ['rev.namespace', selector(isDefault, absent('istio-injection')), selector(notOptedOut)],
    ['rev.object', selector(...unlabelled), selector(notOptedOut, isDefault)],
    ['namespace', selector(expression('istio-injection', 'In', 'enabled')), selector(notOptedOut)],
    [
      'object',
      selector(...unlabelled),
      selector(expression('sidecar.istio.io/inject', 'In', 'true'), absent('istio.io/rev')),
    ],
  ];
  return pairs.map(([name, namespaceSelector, objectSelector]) => ({
    name: `${name}.sidecar-injector.istio.io`,
    clientConfig: { url, caBundle },
    sideEffects: 'None',
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    admissionReviewVersions: ['v1'],
    namespaceSelector,
    objectSelector,
  }));
}
