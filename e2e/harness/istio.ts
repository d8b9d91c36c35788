import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { buildKubectl, buildProgram, findHelm, istioModule } from './build.ts';
import { freePort } from './free-port.ts';
import { answersOk, ManagedProcess } from './managed-process.ts';
import { paths } from './paths.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { runInShell } from './shell.ts';
import { untilActive } from './until-active.ts';
import { waitFor } from './wait-for.ts';
import { type WebhookConfiguration, webhooks } from './webhook-configurations.ts';
import { createNamespace } from './workloads.ts';

const configMaps = resourceKind('v1', 'ConfigMap');

/** The namespace of Istio, and the name of its webhook configuration. */
export const istioNames = { namespace: 'istio-system', webhook: 'istio-sidecar-injector' };

export interface Istio {
  /** The version of Istio's Go module. */
  readonly version: string;
  readonly istiod: ManagedProcess;
  /**
   * Applies Istio's chart again, and waits until its webhook is active.
   * @param hasWebhook false to leave out the webhook by the values of the chart
   */
  readonly apply: (hasWebhook?: boolean) => Promise<void>;
  /** Applies the manifests of `istioctl manifest generate` by kubectl. */
  readonly applyManifests: () => Promise<void>;
  /** Applies the chart by server-side apply from now on, as Helm 4 does; before, as Helm 3 does. */
  readonly useServerSideApply: () => Promise<void>;
  readonly webhook: () => Promise<WebhookConfiguration>;
}

/** Installs Istio's own charts with helm, and runs the real istiod as a process of this machine. */
export async function installIstio(context: ScenarioContext): Promise<Istio> {
  const { client, cluster } = context;
  const report = (line: string): void => context.say(line);
  const [program, helm] = [await buildProgram('pilot-discovery', report), await findHelm(report)];
  const [, version = ''] = istioModule.split('@');
  const found = execFileSync('go', ['mod', 'download', '-json', istioModule], { cwd: tmpdir(), encoding: 'utf8' });
  const { Dir: folder } = JSON.parse(found) as { Dir: string };
  const charts = join(folder, 'manifests', 'charts');
  const { namespace } = istioNames;
  const ports = await Promise.all(Array.from({ length: 6 }, () => freePort()));
  const [http, https, grpc, secureGrpc, monitoring, control] = ports.map((port) => `127.0.0.1:${port}`);
  const values = join(cluster.run.path, 'istio-values.json');
  // The API server of this machine reaches no Service, so its webhook has a URL.
  const injectionURL = `https://localhost:${ports[1] ?? 0}/inject`;
  writeFileSync(
    values,
    JSON.stringify({ istiodRemote: { injectionURL }, global: { hub: 'registry.example.com/istio' } }),
  );
  const home = join(cluster.run.path, 'helm');
  mkdirSync(home);
  const PATH = [paths.binaries, process.env['PATH']].join(delimiter);
  const shell = async (line: string): Promise<void> => {
    const { code, text } = await runInShell(line, { PATH, HOME: home, KUBECONFIG: cluster.kubeconfig });
    if (code !== 0) throw new Error(`${line}: ${text}`);
  };
  const webhook = (): Promise<WebhookConfiguration> => client.get(webhooks, istioNames.webhook);
  let way = '--server-side=false';
  const apply = async (hasWebhook = true): Promise<void> => {
    const chart = `"${charts}/istio-control/istio-discovery" -n ${namespace} -f "${values}"`;
    await shell(`${helm} upgrade --install istiod ${chart} --set global.operatorManageWebhooks=${!hasWebhook} ${way}`);
    if (!hasWebhook) {
      await untilActive(client);
      return;
    }
    await waitFor('istiod to write its caBundle', async () =>
      (await webhook()).webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== ''),
    );
    await untilActive(client);
  };
  const applyManifests = async (): Promise<void> => {
    const istioctl = await buildProgram('istioctl', report);
    await buildKubectl(report);
    const spec = { profile: 'minimal', hub: 'registry.example.com/istio', values: { istiodRemote: { injectionURL } } };
    const [operator, generated] = ['json', 'yaml'].map((type) => join(cluster.run.path, `istio-operator.${type}`));
    writeFileSync(operator!, JSON.stringify({ apiVersion: 'install.istio.io/v1alpha1', kind: 'IstioOperator', spec }));
    const manifests = `--manifests "${join(folder, 'manifests')}"`;
    await shell(`"${istioctl}" manifest generate ${manifests} -f "${operator}" > "${generated}"`);
    await shell(`kubectl apply -f "${generated}"`);
    await untilActive(client);
  };
  const useServerSideApply = (): Promise<void> => {
    way = '--server-side=true --force-conflicts';
    return apply();
  };
  await createNamespace(client, namespace);
  await shell(`${helm} install istio-base "${charts}/base" -n ${namespace}`);
  context.atEnd(() => shell(`${helm} uninstall istiod istio-base -n ${namespace} --ignore-not-found`));
  const istiod = new ManagedProcess({
    name: 'istiod',
    command: program,
    arguments: [
      'discovery',
      `--kubeconfig=${cluster.kubeconfig ?? ''}`,
      ...[`--httpAddr=${http}`, `--httpsAddr=${https}`, `--grpcAddr=${grpc}`, `--secureGRPCAddr=${secureGrpc}`],
      ...[`--monitoringAddr=${monitoring}`, `--ctrlz_port=${control?.split(':')[1] ?? ''}`],
    ],
    environment: {
      POD_NAME: 'istiod-1',
      POD_NAMESPACE: namespace,
      REVISION: 'default',
      PILOT_CERT_PROVIDER: 'istiod',
      ISTIOD_CUSTOM_HOST: 'localhost',
      VALIDATION_WEBHOOK_CONFIG_NAME: '',
    },
    run: cluster.run,
  });
  context.atEnd(() => istiod.kill());
  // istiod injects only if the ConfigMap with its templates exists when it starts.
  const first = apply();
  await waitFor('the templates of istiod', () => client.find(configMaps, istioNames.webhook, { namespace }));
  istiod.start();
  await istiod.waitUntilReady(() => answersOk(`http://${http}/ready`), 150_000);
  await first;
  return { version, istiod, apply, applyManifests, useServerSideApply, webhook };
}
