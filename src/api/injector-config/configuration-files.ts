import type { KubernetesObject } from '../kubernetes/kubernetes.ts';

/** The texts of a configuration, keyed as in its ConfigMap. All except `settings` are Istio's. */
export interface ConfigurationFiles {
  /** Istio's injector config as YAML: policy, templates, defaultTemplates, selectors … */
  readonly config: string;
  /** `.Values` of the templates, as JSON. */
  readonly values: string;
  /** MeshConfig as YAML; empty for Istio's defaults. */
  readonly mesh: string;
  /** {@link InjectionSettings} as JSON: settings for which Istio's format has no key. */
  readonly settings: string;
}

/** A ConfigMap holds 1 MiB; the difference leaves room for its metadata and for the next edit. */
export const maximumConfigurationBytes = 900 * 1024;

const keys = ['config', 'values', 'mesh', 'settings'] as const;

/** Returns the configuration in a ConfigMap of ours; undefined when a key is missing. */
export function filesOf(configMap: KubernetesObject | undefined): ConfigurationFiles | undefined {
  const data = configMap?.data as Partial<Record<string, string>> | undefined;
  if (data === undefined || keys.some((key) => typeof data[key] !== 'string')) return undefined;
  const { config = '', values = '', mesh = '', settings = '' } = data;
  return { config, values, mesh, settings };
}
