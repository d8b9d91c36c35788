import { Command } from 'commander';
import { uninjectObject, type UninjectedObject } from '../../explain/uninject-object.ts';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import { type Injector, loadInjector } from '../../inject/injector.ts';
import { editFile } from '../../inject/kube-inject.ts';
import { describeObject } from '../../inject/objects/inject-object.ts';
import type { PodTemplates } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { addFileOptions, editFiles, type FileOptions } from '../injection/edit-files.ts';
import { kubeletVersionOption, nativeSidecarsOption } from '../injection/injection-options.ts';
import {
  addConfigurationOptions,
  type ConfigurationOptions,
  namedConfiguration,
} from '../injection/named-configuration.ts';
import { inFile } from '../../explain/files/read-config.ts';
import type { Terminal } from '../terminal.ts';

interface UninjectOptions extends ConfigurationOptions, FileOptions {
  readonly namespace?: string;
  readonly kubeInject?: true;
  readonly kubeletVersion: NonNullable<InjectionRequest['nodes']>;
}

/** `injector uninject`: removes what an injector added to the workloads and pods of files. */
export function uninjectCommand(terminal: Terminal): Command {
  const command = new Command('uninject').description(
    'remove from the workloads and pods of YAML files what this injector, or Istio, added; with the configuration that injected them, the result is exact',
  );
  return addConfigurationOptions(addFileOptions(command, 'injected workloads'))
    .addOption(nativeSidecarsOption().conflicts('config'))
    .option('-n, --namespace <name>', 'the namespace if an object names none')
    .addOption(kubeletVersionOption())
    .option('--kube-inject', 'with a configuration: `kube-inject` injected the files, not `inject` or a webhook')
    .action(async (options: UninjectOptions) => {
      const { config, configDir, kubeletVersion, namespace = 'default', kubeInject } = options;
      const semantics = kubeInject === true ? 'KubeInject' : 'Webhook';
      const name = config ?? configDir;
      const files = name === undefined ? undefined : await namedConfiguration(terminal, options);
      const injector = files && inFile(name ?? '', () => loadInjector(files, { semantics }));
      const context = { namespace, nodes: kubeletVersion };
      await editFiles(terminal, options, (text) => uninjectText(text, injector, context, options.podTemplate));
    });
}

/** Removes injections from a YAML text. Comments, and documents without injections, stay. */
export function uninjectText(
  text: string,
  injector: Injector | undefined,
  context: Pick<InjectionRequest, 'namespace' | 'nodes'>,
  podTemplates?: PodTemplates,
) {
  const edit = (object: JsonObject) => {
    const isCommand = injector?.semantics === 'KubeInject';
    const by = injector && { injector, request: { ...context, ...(isCommand && { namespace: '' }) } };
    const result = uninjectObject(object, by, podTemplates);
    if (result === undefined) return { object, warnings: [] };
    return { object: result.object, warnings: remarksOn(describeObject(object), result), texts: result.texts };
  };
  return editFile(text, edit, 'the original value is restored, but not how it was written (quotes, comments)');
}

/** Says what is not known of a pod before its injection, one line each. */
function remarksOn(object: string, { isInjected, lost }: UninjectedObject): string[] {
  if (!isInjected) return [`${object}: is not injected`];
  return lost.map(({ field, reason }) => `${object}: ${field}: the original is not known: ${reason}`);
}
