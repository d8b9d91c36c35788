import { apiVersion, type InjectorConfig } from '../injector-config/injector-config.ts';
import { parseInjectorConfig } from '../injector-config/parse-injector-config.ts';

/** Returns an InjectorConfig with defaults and a one-line template; `spec` overrides its fields. */
export function injectorConfig(name: string, spec: Record<string, unknown> = {}): InjectorConfig {
  return parseInjectorConfig({
    apiVersion,
    kind: 'InjectorConfig',
    metadata: { name, uid: `uid-of-${name}` },
    spec: { injection: { templates: { sidecar: 'metadata: {}' } }, ...spec },
  });
}
