import { DEFAULT_SCHEMA, dump, Type } from 'js-yaml';
import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../api/errors.ts';
import type { InjectionSettings } from '../api/injector-config/injection-settings.ts';
import { type InjectorConfig, type InjectorConfigSpec, revisionOf } from '../api/injector-config/injector-config.ts';
import { refuseUnbounded } from './bounded-text.ts';
import { canonicalJson, valuesJson } from './values-json.ts';
import { type ConfigurationReference, configurationReferences } from './configuration-references.ts';

/** The texts that an InjectorConfig refers to, as read from the cluster. */
export interface ReferencedTexts {
  /** What `spec.injection.configFrom` names. */
  readonly config?: string;
  /** What `spec.injection.valuesFrom` names, or the key `values` beside `configFrom`. */
  readonly values?: string;
  /** What `spec.injection.meshConfigFrom` names. */
  readonly mesh?: string;
}

/**
 * The configuration of a revision as the keys of its ConfigMap, in Istio's format. The same InjectorConfig gives the same bytes, whatever
 * the order of its maps; a config and a mesh config that are referred to stay as they are, byte for byte.
 * @throws ConfigurationError when a referenced text is missing or not what it should be
 */
export function configurationFiles(config: InjectorConfig, references: ReferencedTexts = {}): ConfigurationFiles {
  const { injection } = config.spec;
  const { values, meshConfig = {} } = injection;
  refuseUnbounded(values, 'spec.injection.values');
  refuseUnbounded(meshConfig, 'spec.injection.meshConfig');
  const { config: configReference, values: valuesReference, mesh: meshReference } = configurationReferences(injection);
  const inlineMesh = Object.keys(meshConfig).length === 0 ? '' : yaml(meshConfig);
  return {
    config: configReference === undefined ? yaml(istioConfig(injection)) : textOf(configReference, references.config),
    values:
      valuesReference === undefined
        ? canonicalJson(values ?? {})
        : valuesJson(textOf(valuesReference, references.values), valuesReference.field),
    mesh: meshReference === undefined ? inlineMesh : textOf(meshReference, references.mesh),
    settings: canonicalJson(injectionSettings(config)),
  };
}

/** A mistake in a text that we made of an InjectorConfig, by the name that the field has there. */
export function inSpec(error: ConfigurationError): ConfigurationError {
  if (!/^(?:config|values|mesh)\b/.test(error.field)) return error;
  const field = `spec.injection.${error.field.replace(/^config\./, '').replace(/^mesh\b/, 'meshConfig')}`;
  return new ConfigurationError(field, error.message.replaceAll(error.field, field), { cause: error });
}

function textOf({ field, namespace, name, key }: ConfigurationReference, text: string | undefined): string {
  if (text !== undefined) return text;
  const message = `${field}: key ${key} of ConfigMap ${namespace}/${name} was not read: supply its text`;
  throw new ConfigurationError(field, message);
}

/** The keys of Istio's injector config; empty lists and maps are left out, as Istio's own file does. */
function istioConfig(injection: InjectorConfigSpec['injection']): Record<string, unknown> {
  const { policy = 'enabled', enableNamespacesByDefault, templates, template, defaultTemplates, aliases } = injection;
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
  const { annotationOverrides, configFrom } = injection;
  const [left = '{{', right = '}}'] = injection.delimiters;
  return {
    revision: revisionOf(config),
    delimiters: [left, right],
    nativeSidecars: injection.nativeSidecars,
    keys: webhook.keys,
    pathEnvironment: webhook.pathEnvironment,
    annotationOverrides: {
      // Who takes over a whole configuration of Istio's gets Istio's pods.
      preset: annotationOverrides?.preset ?? (configFrom === undefined ? 'Safe' : 'Istio'),
      allow: annotationOverrides?.allow ?? [],
    },
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
