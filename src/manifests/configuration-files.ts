import { dump } from 'js-yaml';
import type { ConfigurationFiles } from '../api/configuration-files.ts';
import type { InjectionSettings } from '../api/injection-settings.ts';
import { revisionOf, type InjectorConfig, type InjectorConfigSpec } from '../api/injector-config.ts';
import { canonicalJson } from './canonical-json.ts';
import { valuesJson } from './values-json.ts';

/** The texts that an InjectorConfig refers to, as read from the cluster. */
export interface ReferencedTexts {
  /** What `spec.injection.valuesFrom` names. */
  readonly values?: string;
}

/**
 * The configuration of a revision as the keys of its ConfigMap, in Istio's format. The same InjectorConfig gives the same bytes, whatever
 * the order of its maps.
 * @throws ConfigurationError when a referenced text is not what it should be
 */
export function configurationFiles(config: InjectorConfig, references: ReferencedTexts = {}): ConfigurationFiles {
  const { injection } = config.spec;
  return {
    config: yaml(istioConfig(injection)),
    values: references.values === undefined ? canonicalJson(injection.values ?? {}) : valuesJson(references.values),
    mesh: Object.keys(injection.meshConfig).length === 0 ? '' : yaml(injection.meshConfig),
    settings: canonicalJson(injectionSettings(config)),
  };
}

/** The keys of Istio's injector config; empty lists and maps are left out, as Istio's own file does. */
function istioConfig(injection: InjectorConfigSpec['injection']): Record<string, unknown> {
  const { policy, enableNamespacesByDefault, templates, template, defaultTemplates, aliases } = injection;
  const { alwaysInjectSelector, neverInjectSelector, injectedAnnotations } = injection;
  const optional = { defaultTemplates, aliases, alwaysInjectSelector, neverInjectSelector, injectedAnnotations };
  return {
    policy,
    ...(enableNamespacesByDefault ? { enableNamespacesByDefault } : {}),
    ...(template === undefined ? { templates: templates ?? {} } : { template }),
    ...Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined && Object.keys(value).length > 0),
    ),
  };
}

function injectionSettings(config: InjectorConfig): InjectionSettings {
  const { injection, webhook } = config.spec;
  const [left = '{{', right = '}}'] = injection.delimiters;
  return {
    revision: revisionOf(config),
    delimiters: [left, right],
    nativeSidecars: injection.nativeSidecars,
    keys: webhook.keys,
    pathEnvironment: webhook.pathEnvironment,
  };
}

/** Block style, long lines whole, words that YAML 1.1 would take for booleans in quotes. */
function yaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, sortKeys: true });
}
