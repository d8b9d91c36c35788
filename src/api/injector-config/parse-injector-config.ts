import { injectorConfigKind, injectorConfigSpecSchema, type InjectorConfig } from './injector-config.ts';
import { injectorConfigStatusSchema } from './injector-config-status.ts';
import { parseResource, type ParseOptions } from '../parse-resource.ts';

/**
 * Reads an InjectorConfig as the API server would: checks the schema and fills in the defaults. Rules between fields are checked by
 * {@link import('./validate-injector-config.ts').validateInjectorConfig}.
 * @throws ConfigurationError that names the object, the field and the value.
 */
export function parseInjectorConfig(object: unknown, options: ParseOptions = {}): InjectorConfig {
  return parseResource(injectorConfigKind, injectorConfigSpecSchema, injectorConfigStatusSchema, object, options);
}
