import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { atFile, readText } from '../files.ts';

/**
 * Reads Istio's files `config` and, if they exist, `values` and `mesh` from a directory, such as a
 * volume that is projected from Istio's ConfigMaps.
 * @throws ConfigurationError or UsageError naming the file
 */
export function readConfigurationDirectory(directory: string, settings: InjectionSettings): ConfigurationFiles {
  const config = readKey(directory, 'config');
  if (config === undefined) {
    const file = join(directory, 'config');
    throw new ConfigurationError('config', `${file}: missing; it must contain Istio's injector config`);
  }
  return {
    config,
    values: readKey(directory, 'values') ?? '{}',
    mesh: readKey(directory, 'mesh') ?? '',
    settings: JSON.stringify(settings),
  };
}

function readKey(directory: string, key: string): string | undefined {
  const file = join(directory, key);
  return existsSync(file) ? atFile(file, () => readText(file)) : undefined;
}
