/** What an injector is loaded from: the keys of a revision's ConfigMap, as text, in Istio's format where it has one. */
export interface ConfigurationFiles {
  /** Istio's injector config as YAML: policy, templates, defaultTemplates, selectors … */
  readonly config: string;
  /** `.Values` of the templates, as JSON. */
  readonly values: string;
  /** MeshConfig as YAML; empty for Istio's defaults. */
  readonly mesh: string;
  /** {@link InjectionSettings} as JSON: what Istio's format has no key for. */
  readonly settings: string;
}
