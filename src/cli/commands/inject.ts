import { Command } from 'commander';
import { loadInjector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { addFileOptions, type FileOptions, injectFiles } from '../injection/edit-files.ts';
import {
  addConfigurationOptions,
  type ConfigurationOptions,
  namedConfiguration,
} from '../injection/named-configuration.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import { kubeletVersionOption, nativeSidecarsOption } from '../injection/injection-options.ts';
import { inFile } from '../../explain/files/read-config.ts';
import { oneLine } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';

interface InjectOptions extends ConfigurationOptions, FileOptions {
  readonly namespace?: string;
  readonly kubeletVersion: readonly NodeFacts[];
}

/** `injector inject`: injects the workloads of files as the webhook would, without a cluster. */
export function injectCommand(terminal: Terminal): Command {
  const command = new Command('inject').description(
    'inject the workloads of YAML files as the webhook would, without a cluster; namespace labels are ignored (`check -f` evaluates them)',
  );
  return addConfigurationOptions(addFileOptions(command, 'workloads'))
    .addOption(nativeSidecarsOption().conflicts('config'))
    .option('-n, --namespace <name>', 'the namespace if an object names none')
    .addOption(kubeletVersionOption())
    .action(async (options: InjectOptions) => {
      const files = await namedConfiguration(terminal, options);
      const injector = inFile(options.config ?? options.configDir ?? '', () => loadInjector(files));
      const { failure, warnings } = rehearse(injector, () => performance.now());
      if (failure !== undefined)
        terminal.error(`warning: the operator would not publish this configuration: ${oneLine(failure.message)}`);
      for (const warning of [...injector.warnings, ...warnings]) terminal.error(`warning: ${warning}`);
      const { namespace = 'default', kubeletVersion: nodes } = options;
      await injectFiles(terminal, injector, { nodes, namespace }, options);
    });
}
