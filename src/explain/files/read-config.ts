import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import type { Mistake } from '../../api/mistake.ts';

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
