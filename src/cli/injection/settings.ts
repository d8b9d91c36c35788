import type { AnnotationOverrides } from '../../api/annotation-overrides.ts';
import type { InjectionSettings, NativeSidecars } from '../../api/injection-settings.ts';
import { istioKeys } from '../../api/webhook-keys.ts';

/** The settings of a configuration in Istio's own format, which has no place for them. */
export function istioSettings(choices: {
  readonly revision: string;
  readonly nativeSidecars: NativeSidecars;
  readonly annotationOverrides: AnnotationOverrides;
  readonly delimiters?: readonly [string, string];
}): InjectionSettings {
  return { delimiters: ['{{', '}}'], keys: istioKeys, pathEnvironment: {}, ...choices };
}
