import { Command } from 'commander';
import { istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { loadInjector } from '../../inject/injector.ts';
import { type AuthorUse, authorUses } from '../../inject/safety/author-uses.ts';
import {
  addConfigurationOptions,
  type ConfigurationOptions,
  namedConfiguration,
} from '../injection/named-configuration.ts';
import { inFile } from '../injection/read-injector-config.ts';
import { type OutputFormat, outputOption, writeReport } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';

/** `injector annotations`: what a configuration's templates read of what authors of pods write, and what each may do. No cluster is asked. */
export function annotationsCommand(terminal: Terminal): Command {
  const command = new Command('annotations').description(
    'list the annotations and labels that the templates read, and what authors of pods may do with each',
  );
  return addConfigurationOptions(command)
    .addOption(outputOption())
    .action(async (options: ConfigurationOptions & { readonly output: OutputFormat }) => {
      const files = await namedConfiguration(terminal, options);
      const settings = JSON.parse(files.settings) as InjectionSettings;
      const { preset, allow } = settings.annotationOverrides ?? istioOverrides;
      if (preset === 'Istio') {
        terminal.error(
          'annotationOverrides: preset Istio accepts all of these; this is what preset Safe would make of them',
        );
      }
      const safe = { ...settings, annotationOverrides: { preset: 'Safe', allow } };
      const injector = inFile(options.config ?? options.configDir ?? '', () =>
        loadInjector({ ...files, settings: JSON.stringify(safe) }),
      );
      writeReport(terminal, options.output, authorUses(injector), {
        columns: ['NAME', 'OF', 'KIND'],
        row: (use) => [use.name, use.of, use.kind],
        notes: (use) => [`an author may ${inWords(use)}`],
        empty: 'the templates read no annotations and no labels',
      });
    });
}

function inWords({ kind, allowed, why }: AuthorUse): string {
  if (allowed) return 'do anything: it is in allow';
  switch (kind) {
    case 'structural':
      return `do nothing: ${why ?? 'it changes more than values'}; a pod that has it is refused`;
    case 'parsed':
      return 'change values: what comes of its parts is compared with the pod without it';
    case 'steering':
      return 'switch values on and off: what it decides is compared with the pod without it';
    case 'scalar':
      return 'set a value: an odd text is compared with a harmless one';
  }
}
