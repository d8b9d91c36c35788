import { Command } from 'commander';
import { istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { authorMay, safeAuthorUses } from '../../inject/safety/author-uses.ts';
import {
  addConfigurationOptions,
  type ConfigurationOptions,
  namedConfiguration,
} from '../injection/named-configuration.ts';
import { inFile } from '../../explain/files/read-config.ts';
import { type OutputFormat, outputOption, writeReport } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';

/** `injector annotations`: lists what authors may do with the annotations that templates read. */
export function annotationsCommand(terminal: Terminal): Command {
  const command = new Command('annotations').description(
    'list the annotations and labels that the templates read, and what the authors of pods may do with each',
  );
  return addConfigurationOptions(command)
    .addOption(outputOption())
    .action(async (options: ConfigurationOptions & { readonly output: OutputFormat }) => {
      const files = await namedConfiguration(terminal, options);
      const settings = JSON.parse(files.settings) as InjectionSettings;
      if ((settings.annotationOverrides ?? istioOverrides).preset === 'Istio') {
        terminal.error(
          'annotationOverrides: preset Istio allows all of these; the list shows the restrictions of preset Safe',
        );
      }
      const uses = inFile(options.config ?? options.configDir ?? '', () => safeAuthorUses(files));
      writeReport(terminal, options.output, uses, {
        columns: ['NAME', 'OF', 'KIND'],
        row: (use) => [use.name, use.of, use.kind],
        notes: (use) => [`authors may ${authorMay(use)}`],
        empty: 'the templates read no annotations or labels',
      });
    });
}
