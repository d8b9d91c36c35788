import { apiVersion, type InjectorConfig } from '../../api/injector-config.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import type { ManifestContext } from '../manifest-context.ts';

/** An InjectorConfig with defaults; `spec` is laid over one with a single small template. */
export function injectorConfig(name: string, spec: Record<string, unknown> = {}): InjectorConfig {
  return parseInjectorConfig({
    apiVersion,
    kind: 'InjectorConfig',
    metadata: { name, uid: `uid-of-${name}` },
    spec: { injection: { templates: { sidecar: 'metadata: {}' } }, ...spec },
  });
}

export const context: ManifestContext = {
  namespace: 'injection',
  operatorClass: 'default',
  podSelector: { 'app.kubernetes.io/name': 'injector-operator' },
  targetPort: 15017,
};
