import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { atOnce, type Steps } from '../../template/steps.ts';
import type { Rehearsal } from '../injection-result.ts';
import type { Message } from '../mesh/decode-message.ts';
import { loadMeshConfig } from '../mesh/mesh-config.ts';
import { parseInjectorConfig, type InjectorConfigText } from './parse-injector-config.ts';
import { parseSettings } from './parse-settings.ts';
import { parseValues, type Values } from './values.ts';

/** A configuration's texts, read and checked; templates are still text. Plain data: it can be sent from one thread to another. */
export interface ReadConfiguration {
  readonly settings: Required<InjectionSettings>;
  readonly config: InjectorConfigText;
  /** The effective MeshConfig, as canonical protobuf JSON. */
  readonly mesh: Message;
  readonly values: Values;
  /** Where it was tried, too. */
  readonly rehearsal?: Rehearsal;
}

/** {@link readConfiguration}, where nobody waits. */
export function readConfigurationAtOnce(files: ConfigurationFiles): ReadConfiguration {
  return atOnce(readConfiguration(files));
}

/** Reads the texts of a configuration, one in each step. @throws ConfigurationError naming the key, line and column */
export function* readConfiguration(files: ConfigurationFiles): Steps<ReadConfiguration> {
  const settings = parseSettings(files.settings);
  const config = parseInjectorConfig(files.config);
  yield;
  const mesh = loadMeshConfig(files.mesh);
  yield;
  return { settings, config, mesh, values: parseValues(files.values) };
}
