import { apiVersion, type InjectorConfig } from '../injector-config/injector-config.ts';
import { parseInjectorConfig } from '../injector-config/parse-injector-config.ts';

/** An InjectorConfig as the API server stores it: with defaults. Fields of `spec` beside a template of one line are the caller's. */
export function injectorConfig(name: string, spec: Record<string, unknown> = {}): InjectorConfig {
  return parseInjectorConfig({
    apiVersion,
    kind: 'InjectorConfig',
    metadata: { name, uid: `uid-of-${name}` },
    spec: { injection: { templates: { sidecar: 'metadata: {}' } }, ...spec },
  });
}
