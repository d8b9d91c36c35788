import { DEFAULT_SCHEMA, dump, Type } from 'js-yaml';
import type { ConfigurationFiles } from '../api/configuration-files.ts';
import { ConfigurationError } from '../api/errors.ts';
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
 * @throws ConfigurationError when a referenced text is missing or not what it should be
 */
export function configurationFiles(config: InjectorConfig, references: ReferencedTexts = {}): ConfigurationFiles {
  const { injection } = config.spec;
  return {
    config: yaml(istioConfig(injection)),
    values: values(injection, references),
    mesh: Object.keys(injection.meshConfig).length === 0 ? '' : yaml(injection.meshConfig),
    settings: canonicalJson(injectionSettings(config)),
  };
}

function values(
  { values: inline = {}, valuesFrom }: InjectorConfigSpec['injection'],
  references: ReferencedTexts,
): string {
  if (valuesFrom === undefined) return canonicalJson(inline);
  if (references.values !== undefined) return valuesJson(references.values);
  const { namespace, name, key } = valuesFrom;
  const field = 'spec.injection.valuesFrom';
  throw new ConfigurationError(
    field,
    `${field}: key ${key} of ConfigMap ${namespace}/${name} was not read: supply its text`,
  );
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

/** Block style, long lines whole, in quotes whatever YAML 1.1 (which Go reads) would take for something else than text. */
function yaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, schema });
}

/** What js-yaml would leave without quotes although Go's reader drops the underscores and finds a number, such as 1_000. */
const numberLike = new Type('tag:sidecar-injector.io,2026:number', {
  kind: 'scalar',
  resolve: (text: unknown) => typeof text === 'string' && /^[-+]?[.0-9][0-9A-Fa-fxXoO_.+-]*$/.test(text),
});
const schema = DEFAULT_SCHEMA.extend({ implicit: [numberLike] });
