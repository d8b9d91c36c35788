import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';

/** A configuration recorded by scripts/istio-recorder, with the variables of istiod. */
export interface IstiodSetup extends Readonly<Record<'name' | 'revision' | 'config' | 'values' | 'mesh', string>> {
  readonly nativeSidecars: 'enabled' | 'disabled';
  readonly platform?: string;
  readonly compliancePolicy?: string;
  /** The annotations of namespaces by their names. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Returns the settings that have the effects of istiod's variables. */
export function settingsOfSetup(setup: IstiodSetup): Partial<InjectionSettings> {
  const { revision, nativeSidecars, platform, compliancePolicy } = setup;
  return {
    revision,
    nativeSidecars: nativeSidecars === 'enabled' ? 'Enabled' : 'Disabled',
    ...(platform !== undefined && { platform: platform === 'openshift' ? 'OpenShift' : 'Kubernetes' }),
    ...(compliancePolicy !== undefined && { compliancePolicy }),
  };
}
