import { documentsOfFile } from '../../inject/objects/documents-of-file.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { Mistake } from '../../api/mistake.ts';
import { injectorConfigKind, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
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

/** Parses and validates an InjectorConfig. @throws ConfigurationError naming the field */
export function readConfig(object: unknown): InjectorConfig {
  const config = parseInjectorConfig(object, { unknownFields: 'refuse' });
  refuse(validateInjectorConfig(config));
  return config;
}

/** @throws ConfigurationError with all mistakes, if there are any */
export function refuse(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (first !== undefined) throw new ConfigurationError(first.field, mistakes.map(({ message }) => message).join('; '));
}

/** Adds the file to a ConfigurationError. */
export function inFile<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.field, `${file}: ${error.message}`, { cause: error });
  }
}
