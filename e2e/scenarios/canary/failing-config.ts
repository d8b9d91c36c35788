import type { InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';

/** A marked InjectorConfig whose pods crash: the fake kubelets read it from an annotation that the template brings. */
export function failingConfig(name: string, mark: string): InjectorConfigObject {
  return markedConfig(name, mark, {}, 'crash');
}

/** A marked InjectorConfig whose template compiles, and fails for every pod. */
export function brokenConfig(name: string, mark: string): InjectorConfigObject {
  const config = markedConfig(name, mark);
  config.spec.injection['templates'] = { sidecar: '{{ if .ObjectMeta }}{{ fail "this canary is broken" }}{{ end }}' };
  return config;
}
