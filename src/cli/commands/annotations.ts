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
      const { preset, allow } = settings.annotationOverrides ?? istioOverrides;
      if (preset === 'Istio') {
        terminal.error(
          'annotationOverrides: preset Istio allows all of these; the list shows the restrictions of preset Safe',
        );
      }
      const safe = { ...settings, annotationOverrides: { preset: 'Safe', allow } };
      const injector = inFile(options.config ?? options.configDir ?? '', () =>
        loadInjector({ ...files, settings: JSON.stringify(safe) }),
      );
      writeReport(terminal, options.output, authorUses(injector), {
        columns: ['NAME', 'OF', 'KIND'],
        row: (use) => [use.name, use.of, use.kind],
        notes: (use) => [`authors may ${inWords(use)}`],
        empty: 'the templates read no annotations or labels',
      });
    });
}

function inWords({ kind, allowed, why }: AuthorUse): string {
  if (allowed) return 'do anything, since it is allowed (annotationOverrides)';
  switch (kind) {
    case 'structural':
      return `not use it, since ${why ?? 'it changes more than values'}; a pod with it is refused`;
    case 'parsed':
      return 'change values; the effect of its parts is compared with the pod without it';
    case 'steering':
      return 'switch values on and off; its effect is compared with the pod without it';
    case 'scalar':
      return 'set a value; an unusual value is compared with a harmless one';
  }
}
