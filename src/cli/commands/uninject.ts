import { Command } from 'commander';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { uninjectPod, type Uninjected } from '../../explain/uninject.ts';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import { type Injector, loadInjector } from '../../inject/injector.ts';
import { editFile } from '../../inject/kube-inject.ts';
import { describeObject, podOf, workloadOfObject } from '../../inject/objects/inject-object.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { without } from '../../inject/pod/without.ts';
import { addFileOptions, editFiles, type FileOptions } from '../injection/edit-files.ts';
import { kubeletVersionOption, nativeSidecarsOption } from '../injection/injection-options.ts';
import {
  addConfigurationOptions,
  type ConfigurationOptions,
  namedConfiguration,
} from '../injection/named-configuration.ts';
import { inFile } from '../injection/read-injector-config.ts';
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
      await editFiles(terminal, options, (text) => uninjectText(text, injector, context));
    });
}

/** Removes injections from a YAML text. Comments, and documents without injections, stay. */
export function uninjectText(
  text: string,
  injector: Injector | undefined,
  context: Pick<InjectionRequest, 'namespace' | 'nodes'>,
) {
  return editFile(text, (object) => {
    const found = podOf(object, isMarkedOnJob(object));
    if (found === undefined) return { object, warnings: [] };
    const { pod, withPod } = found;
    const workload = object.kind === 'Pod' ? undefined : workloadOfObject(object);
    const isCommand = injector?.semantics === 'KubeInject';
    const by = injector && { injector, request: { ...context, ...(isCommand && { namespace: '' }) } };
    const result = uninjectPod(pod, by, workload);
    const isBare = Object.keys(objectAt(result.pod, ['metadata'])).length === 0;
    const after = result.isInjected && isBare ? without(result.pod, 'metadata') : result.pod;
    return { object: result.isInjected ? withPod(after) : object, warnings: remarksOn(describeObject(object), result) };
  });
}

/** Reports whether Istio's command has marked the job template of a CronJob, and not its pods. */
function isMarkedOnJob(object: JsonObject): boolean {
  const annotations = objectAt(object, ['spec', 'jobTemplate', 'metadata', 'annotations']);
  return object.kind === 'CronJob' && Object.hasOwn(annotations, istioKeys.status);
}

/** Says what is not known of a pod before its injection, one line each. */
function remarksOn(object: string, { isInjected, lost }: Uninjected): string[] {
  if (!isInjected) return [`${object}: is not injected`];
  return lost.map(({ field, reason }) => `${object}: ${field}: the original is not known: ${reason}`);
}
