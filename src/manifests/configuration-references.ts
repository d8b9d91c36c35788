import type { InjectorConfigSpec } from '../api/injector-config/injector-config.ts';

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
