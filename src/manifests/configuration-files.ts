import { DEFAULT_SCHEMA, dump, Type } from 'js-yaml';
import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../api/errors.ts';
import type { InjectionSettings, NativeSidecars } from '../api/injector-config/injection-settings.ts';
import { type InjectorConfig, type InjectorConfigSpec, revisionOf } from '../api/injector-config/injector-config.ts';
import { impliedTemplates } from '../api/injector-config/validate-injector-config.ts';
import { refuseUnbounded } from './bounded-text.ts';
import { effectiveSettings } from './istiod-settings.ts';
import { canonicalJson, valuesJson } from './values-json.ts';

/** The key of a ConfigMap that contains a part of the configuration. */
export interface ConfigurationReference {
  /** The field of the InjectorConfig that names the key. */
  readonly field: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** The references of a configuration. The InjectorConfig itself contains all other parts. */
export interface ConfigurationReferences {
  readonly config?: ConfigurationReference;
  readonly values?: ConfigurationReference;
  readonly mesh?: ConfigurationReference;
}

/** The key of Istio's ConfigMap that contains the values, beside its key `config`. */
const istioValuesKey = 'values';

/** Returns the references. By default, values come from the ConfigMap of configFrom. */
export function configurationReferences(injection: InjectorConfigSpec['injection']): ConfigurationReferences {
  const { configFrom, values, valuesFrom, meshConfigFrom } = injection;
  const besideConfig = configFrom && values === undefined ? { ...configFrom, key: istioValuesKey } : undefined;
  const valuesReference =
    valuesFrom === undefined ? withField('configFrom', besideConfig) : withField('valuesFrom', valuesFrom);
  const config = withField('configFrom', configFrom);
  const mesh = withField('meshConfigFrom', meshConfigFrom);
  return { ...(config && { config }), ...(valuesReference && { values: valuesReference }), ...(mesh && { mesh }) };
}

function withField(
  field: string,
  reference: Omit<ConfigurationReference, 'field'> | undefined,
): ConfigurationReference | undefined {
  return reference && { field: `spec.injection.${field}`, ...reference };
}

/** The texts that an InjectorConfig refers to, as read from the cluster. */
export interface ReferencedTexts {
  /** The text of `spec.injection.configFrom`. */
  readonly config?: string;
  /** The text of `spec.injection.valuesFrom`, or of key `values` beside `configFrom`. */
  readonly values?: string;
  /** The text of `spec.injection.meshConfigFrom`. */
  readonly mesh?: string;
}

/**
 * Builds the configuration of an InjectorConfig as the keys of its ConfigMap, in Istio's format.
 * The bytes do not depend on the order of maps; referenced config and mesh texts are copied
 * unchanged.
 * @param nativeSidecars the mode to publish; the default is that of the spec or of istiod
 * @throws ConfigurationError if a referenced text is missing or invalid
 */
export function configurationFiles(
  config: InjectorConfig,
  references: ReferencedTexts = {},
  nativeSidecars?: NativeSidecars,
): ConfigurationFiles {
  const { injection } = config.spec;
  const { meshConfig = {} } = injection;
  refuseUnbounded(meshConfig, 'spec.injection.meshConfig');
  const { config: configReference, mesh: meshReference } = configurationReferences(injection);
  const inlineMesh = Object.keys(meshConfig).length === 0 ? '' : yaml(meshConfig);
  const text =
    configReference === undefined ? yaml(istioConfig(injection)) : textOf(configReference, references.config);
  const values = configurationValues(injection, references);
  return {
    config: text,
    values,
    mesh: meshReference === undefined ? inlineMesh : textOf(meshReference, references.mesh),
    settings: canonicalJson(injectionSettings(config, values, nativeSidecars)),
  };
}

/** Returns `.Values` as JSON. @throws ConfigurationError if a text is missing or invalid */
export function configurationValues(injection: InjectorConfigSpec['injection'], references: ReferencedTexts): string {
  const { values = {} } = injection;
  refuseUnbounded(values, 'spec.injection.values');
  const { values: reference } = configurationReferences(injection);
  return reference === undefined
    ? canonicalJson(values)
    : valuesJson(textOf(reference, references.values), reference.field);
}

/** Converts the field of an error in a generated text to the field of the InjectorConfig. */
export function inSpec(error: ConfigurationError): ConfigurationError {
  if (!/^(?:config|values|mesh)\b/.test(error.field)) return error;
  const field = `spec.injection.${error.field.replace(/^config\./, '').replace(/^mesh\b/, 'meshConfig')}`;
  return new ConfigurationError(field, error.message.replaceAll(error.field, field), { cause: error });
}

function textOf({ field, namespace, name, key }: ConfigurationReference, text: string | undefined): string {
  if (text !== undefined) return text;
  const message = `${field}: key ${key} of ConfigMap ${namespace}/${name} is not available; supply its text`;
  throw new ConfigurationError(field, message);
}

/** Returns Istio's injector config. As in Istio's file, empty lists and maps are omitted. */
function istioConfig(injection: InjectorConfigSpec['injection']): Record<string, unknown> {
  const { policy = 'enabled', enableNamespacesByDefault, templates, template, aliases } = injection;
  const { alwaysInjectSelector, neverInjectSelector, injectedAnnotations } = injection;
  const { defaultTemplates = impliedTemplates(injection) } = injection;
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

function injectionSettings(config: InjectorConfig, values: string, mode?: NativeSidecars): InjectionSettings {
  const { injection, webhook } = config.spec;
  const { annotationOverrides, configFrom } = injection;
  const [left = '{{', right = '}}'] = injection.delimiters;
  const { nativeSidecars, platform, compliancePolicy } = effectiveSettings(injection, values);
  return {
    revision: revisionOf(config),
    delimiters: [left, right],
    nativeSidecars: mode ?? nativeSidecars,
    keys: webhook.keys,
    pathEnvironment: webhook.pathEnvironment,
    // Without these fields too.
    ...(platform === 'Kubernetes' ? {} : { platform }),
    ...(compliancePolicy === '' ? {} : { compliancePolicy }),
    ...(injection.podResources === 'Keep' ? {} : { podResources: injection.podResources }),
    ...(injection.windowsPods === undefined ? {} : { windowsPods: injection.windowsPods }),
    annotationOverrides: {
      // Without further fields, the settings and their hash stay those of earlier releases.
      ...annotationOverrides,
      // A whole configuration from Istio must produce the same pods as Istio's injector.
      preset: annotationOverrides?.preset ?? (configFrom === undefined ? 'Safe' : 'Istio'),
      allow: annotationOverrides?.allow ?? [],
    },
  };
}

/** Serializes YAML in block style without folding. Quotes strings that YAML 1.1 (Go) misreads. */
function yaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, schema });
}

/** Quotes strings such as 1_000, which js-yaml would not quote and Go would read as numbers. */
const numberLike = new Type('tag:sidecar-injector.io,2026:number', {
  kind: 'scalar',
  resolve: (text: unknown) => typeof text === 'string' && /^[-+]?[.0-9][0-9A-Fa-fxXoO_.+-]*$/.test(text),
});
const schema = DEFAULT_SCHEMA.extend({ implicit: [numberLike] });
