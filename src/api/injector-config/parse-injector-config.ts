import {
  injectorConfigKind,
  injectorConfigSpecSchema,
  type InjectorConfig,
  injectorConfigStatusSchema,
} from './injector-config.ts';
import { parseResource, type ParseOptions } from '../parse-resource.ts';

/** Parses an InjectorConfig and sets defaults; checks no rules. @throws ConfigurationError */
export function parseInjectorConfig(object: unknown, options: ParseOptions = {}): InjectorConfig {
  return parseResource(injectorConfigKind, injectorConfigSpecSchema, injectorConfigStatusSchema, object, options);
}
