import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { atOnce, type Steps } from '../../steps/steps.ts';
import type { Rehearsal } from '../injection-result.ts';
import type { Message } from '../mesh/decode-message.ts';
import { loadMeshConfig } from '../mesh/mesh-config.ts';
import { parseTemplateConfig, type InjectorConfigText } from './parse-injector-config.ts';
import { parseSettings } from './parse-settings.ts';
import { parseValues, type Values } from './values.ts';

/** A parsed and checked configuration as plain data; templates are still text. */
export interface ReadConfiguration {
  readonly settings: Required<InjectionSettings>;
  readonly config: InjectorConfigText;
  readonly mesh: Message;
  readonly values: Values;
  /** The result of the trial; absent if the configuration was not tried. */
  readonly rehearsal?: Rehearsal;
}

/** Runs {@link readConfiguration} without yielding. */
export function readConfigurationAtOnce(files: ConfigurationFiles): ReadConfiguration {
  return atOnce(readConfiguration(files));
}

/** Parses a configuration in steps. @throws ConfigurationError that names key, line and column */
export function* readConfiguration(files: ConfigurationFiles): Steps<ReadConfiguration> {
  const settings = parseSettings(files.settings);
  const config = parseTemplateConfig(files.config);
  yield;
  const mesh = loadMeshConfig(files.mesh);
  yield;
  return { settings, config, mesh, values: parseValues(files.values) };
}
