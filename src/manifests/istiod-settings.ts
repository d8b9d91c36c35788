import type { InjectionSettings, NativeSidecars } from '../api/injector-config/injection-settings.ts';
import type { InjectorConfig, InjectorConfigSpec } from '../api/injector-config/injector-config.ts';

/** Settings that istiod reads from its environment or values, and Istio's format has no key for. */
export interface IstiodSettings {
  readonly platform?: NonNullable<InjectionSettings['platform']>;
  readonly compliancePolicy?: string;
  readonly nativeSidecars?: NativeSidecars;
  readonly enableNamespacesByDefault?: boolean;
}

/** The paths in the values, where Istio's chart writes the settings of istiod. */
export const settingPaths = {
  platform: ['global', 'platform'],
  compliancePolicy: ['pilot', 'env', 'COMPLIANCE_POLICY'],
  nativeSidecars: ['pilot', 'env', 'ENABLE_NATIVE_SIDECARS'],
  enableNamespacesByDefault: ['sidecarInjectorWebhook', 'enableNamespacesByDefault'],
} as const;

/** Reads the settings of istiod from `.Values`. Skips values of unexpected types. */
export function istiodSettings(values: unknown): IstiodSettings {
  const [platform, compliancePolicy, native, byDefault] = Object.values(settingPaths).map((path) =>
    scalarAt(values, path),
  );
  return {
    ...(platform && { platform: platformOf(platform) }),
    ...(compliancePolicy && { compliancePolicy }),
    ...(native && { nativeSidecars: nativeSidecarsOf(native) }),
    ...(byDefault && { enableNamespacesByDefault: byDefault === 'true' }),
  };
}

/** Returns the platform for istiod's variable PLATFORM. Istio's injector knows OpenShift only. */
export function platformOf(variable: string): 'Kubernetes' | 'OpenShift' {
  return variable === 'openshift' ? 'OpenShift' : 'Kubernetes';
}

/** Returns the mode for istiod's variable ENABLE_NATIVE_SIDECARS. As in istiod, others disable. */
export function nativeSidecarsOf(variable: string): NativeSidecars {
  if (variable === 'auto') return 'Auto';
  return variable === 'true' ? 'Enabled' : 'Disabled';
}

/** Returns a text, or the text of a number or boolean: a chart quotes all variables. */
function scalarAt(values: unknown, path: readonly string[]): string | undefined {
  let value = values;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/**
 * Returns the settings of a spec. With configFrom, a setting that the spec omits comes from the
 * values, so that pods are those of istiod.
 * @param values the values as JSON
 */
export function effectiveSettings(
  { configFrom, platform, compliancePolicy, nativeSidecars }: InjectorConfigSpec['injection'],
  values: string,
) {
  const istiod = configFrom === undefined ? {} : istiodSettings(JSON.parse(values));
  return {
    nativeSidecars: nativeSidecars ?? istiod.nativeSidecars ?? 'Auto',
    platform: platform ?? istiod.platform ?? 'Kubernetes',
    compliancePolicy: compliancePolicy ?? istiod.compliancePolicy ?? '',
  };
}

/** Describes settings of a spec that differ from those of istiod in the values of configFrom. */
export function contradictions({ metadata, spec }: InjectorConfig, values: string): string[] {
  const { injection } = spec;
  const { configFrom } = injection;
  if (configFrom === undefined) return [];
  const istiod = istiodSettings(JSON.parse(values));
  const { enableNamespacesByDefault: byDefault, ...others } = istiod;
  const isDefault = metadata.name === 'default';
  const asked = { ...others, ...(isDefault && byDefault === true && { enableNamespacesByDefault: true }) };
  return Object.entries(asked).flatMap(([name, wanted]) => {
    const own = injection[name as keyof typeof asked];
    if (own === undefined || own === wanted) return [];
    const { namespace, name: configMap } = configFrom;
    const path = settingPaths[name as keyof typeof settingPaths].join('.');
    const ours = `spec.injection.${name} is ${JSON.stringify(own)}`;
    return [
      `${ours}, but ${path} in the values beside ConfigMap ${namespace}/${configMap} means ${JSON.stringify(wanted)}; set the field to this value, or change the values`,
    ];
  });
}
