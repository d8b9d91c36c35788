import type { InjectorConfigSpec } from '../api/injector-config/injector-config.ts';

/** A key of a ConfigMap that a part of the configuration is read from. */
export interface ConfigurationReference {
  /** The field of the InjectorConfig that names it. */
  readonly field: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Where each part of a configuration is read from; absent parts are in the InjectorConfig itself. */
export interface ConfigurationReferences {
  readonly config?: ConfigurationReference;
  readonly values?: ConfigurationReference;
  readonly mesh?: ConfigurationReference;
}

/** The key of Istio's ConfigMap that holds the values, beside its key `config`. */
const istioValuesKey = 'values';

/** The ConfigMaps that `spec.injection` refers to. The values of a referenced config are beside it, as Istio has them, unless others are given. */
export function configurationReferences(injection: InjectorConfigSpec['injection']): ConfigurationReferences {
  const { configFrom, values, valuesFrom, meshConfigFrom } = injection;
  const besideConfig = configFrom && values === undefined ? { ...configFrom, key: istioValuesKey } : undefined;
  const valuesReference =
    valuesFrom === undefined ? named('configFrom', besideConfig) : named('valuesFrom', valuesFrom);
  const config = named('configFrom', configFrom);
  const mesh = named('meshConfigFrom', meshConfigFrom);
  return { ...(config && { config }), ...(valuesReference && { values: valuesReference }), ...(mesh && { mesh }) };
}

function named(
  field: string,
  reference: Omit<ConfigurationReference, 'field'> | undefined,
): ConfigurationReference | undefined {
  return reference && { field: `spec.injection.${field}`, ...reference };
}
