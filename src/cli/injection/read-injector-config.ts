import { documentsOfFile } from '../../inject/objects/documents-of-file.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { injectorConfigKind, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { inFile, readConfig } from '../../explain/files/read-config.ts';
import { atFile } from '../files.ts';
import { UsageError } from '../terminal.ts';

/**
 * Reads the only InjectorConfig of a YAML file, which may contain other objects. Validates the
 * InjectorConfig as the API server does, and also refuses unknown fields.
 * @throws UsageError or ConfigurationError naming the file, the field and what to do
 */
export function readInjectorConfig(file: string, text: string): InjectorConfig {
  const values = atFile(`--config ${file}: not YAML`, () => Array.from(documentsOfFile(text), ({ read }) => read()));
  const objects = values.filter((object) => object !== null);
  const configs = objects.filter((object) => isJsonObject(object) && object.kind === injectorConfigKind);
  if (configs.length > 1)
    throw new UsageError(`--config ${file}: contains ${configs.length} InjectorConfigs; name a file with only one`);
  if (objects.length === 0) throw new UsageError(`--config ${file}: is empty; it must contain an InjectorConfig`);
  const [config = objects[0]] = configs;
  return inFile(file, () => readConfig(config));
}
