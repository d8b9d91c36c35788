import { Command } from 'commander';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { loadInjector } from '../../inject/injector.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { type ClusterOptions, withCluster } from '../cluster-options.ts';
import { readNamedFile } from '../files.ts';
import {
  annotationOverridesOption,
  istioSettings,
  kubeletVersionOption,
  nativeSidecarsOption,
  type SettingsFlags,
} from '../injection/injection-options.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import { addFileOptions, type FileOptions, injectFiles } from '../injection/edit-files.ts';
import { inFile } from '../../explain/files/read-config.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { configMaps } from '../../operator/cluster-view.ts';

interface KubeInjectOptions extends ClusterOptions, FileOptions, Omit<SettingsFlags, 'revision'> {
  readonly injectConfigFile?: string;
  readonly meshConfigFile?: string;
  readonly valuesFile?: string;
  readonly revision?: string;
  readonly injectConfigMapName?: string;
  readonly meshConfigMapName?: string;
  readonly istioNamespace: string;
  readonly kubeletVersion: readonly NodeFacts[];
}

/** Replaces `istioctl kube-inject`. Reads Istio's ConfigMaps unless flags name files. */
export function kubeInjectCommand(terminal: Terminal): Command {
  const description = 'inject the workloads of YAML files as `istioctl kube-inject` does';
  return addFileOptions(new Command('kube-inject').description(description), 'workloads')
    .option('--injectConfigFile <file>', 'the injector config, instead of the ConfigMap')
    .option('--meshConfigFile <file>', 'the mesh config, instead of the ConfigMap')
    .option('--valuesFile <file>', 'the values as JSON, instead of the ConfigMap')
    .option('-r, --revision <name>', 'the revision of the ConfigMaps')
    .option(
      '--injectConfigMapName <name>',
      'the ConfigMap with keys config and values (default: istio-sidecar-injector[-REVISION])',
    )
    .option('--meshConfigMapName <name>', 'the ConfigMap with key mesh (default: istio[-REVISION])')
    .option('-i, --istioNamespace <name>', 'the namespace of the ConfigMaps', 'istio-system')
    .addOption(nativeSidecarsOption())
    .addOption(annotationOverridesOption())
    .addOption(kubeletVersionOption())
    .option('--kubeconfig <file>', 'the kubeconfig (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'the context of the kubeconfig (default: its current context)')
    .action(async (options: KubeInjectOptions) => {
      const files = await configurationOf(terminal, options);
      const injector = inFile(options.injectConfigFile ?? 'the ConfigMaps', () =>
        loadInjector(files, { semantics: 'KubeInject' }),
      );
      await injectFiles(terminal, injector, { nodes: options.kubeletVersion }, options);
    });
}

async function configurationOf(terminal: Terminal, options: KubeInjectOptions): Promise<ConfigurationFiles> {
  const { istioNamespace, revision = '' } = options;
  const suffix = revision === '' || revision === 'default' ? '' : `-${revision}`;
  const injectMap = options.injectConfigMapName ?? `istio-sidecar-injector${suffix}`;
  const meshMap = options.meshConfigMapName ?? `istio${suffix}`;
  /** Reads the file that a flag names, else a key of a ConfigMap. */
  const text = (flag: string, file: string | undefined, configMap: string, key: string): Promise<string> =>
    file === undefined
      ? withCluster(options, (client) => readConfigMapKey(client, istioNamespace, configMap, key, flag))
      : readNamedFile(terminal, flag, file);
  const config = await text('--injectConfigFile', options.injectConfigFile, injectMap, 'config');
  if (/^kind: *InjectorConfig\b/m.test(config))
    throw new UsageError('--injectConfigFile: this is an InjectorConfig; use `injector inject --config` instead');
  return {
    config,
    values: await text('--valuesFile', options.valuesFile, injectMap, 'values'),
    mesh: await text('--meshConfigFile', options.meshConfigFile, meshMap, 'mesh'),
    settings: JSON.stringify(istioSettings({ ...options, revision })),
  };
}

/**
 * Reads one key of a ConfigMap. The first part of each error is Istio's text, which users search
 * for.
 * @throws ConfigurationError naming the ConfigMap, its namespace, the key, and the replacing flag
 */
async function readConfigMapKey(
  client: Pick<ApiClient, 'get'>,
  namespace: string,
  name: string,
  key: string,
  flag: string,
): Promise<string> {
  let configMap: KubernetesObject;
  try {
    configMap = await client.get(configMaps, name, { namespace });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const problem = `could not read valid configmap "${name}" from namespace "${namespace}": ${error.message}`;
    const advice = `use ${flag}, or -i for another namespace and --revision for another revision`;
    throw new ConfigurationError(name, `${problem} - ${advice}`, { cause: error });
  }
  const text = (configMap.data as Record<string, string> | undefined)?.[key];
  if (text === undefined) {
    const problem = `missing configuration map key "${key}" in configmap "${name}" of namespace "${namespace}"`;
    throw new ConfigurationError(name, `${problem} - add it, or use ${flag}`);
  }
  return text;
}
