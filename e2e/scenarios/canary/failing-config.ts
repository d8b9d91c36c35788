import type { InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';

/** Returns a marked InjectorConfig whose template makes the fake kubelets crash its pods. */
export function failingConfig(name: string, mark: string): InjectorConfigObject {
  return markedConfig(name, mark, {}, 'crash');
}

/** Returns a marked InjectorConfig that fails in every namespace except `default`. */
export function brokenConfig(name: string, mark: string): InjectorConfigObject {
  const config = markedConfig(name, mark);
  const text =
    '{{ if ne .ObjectMeta.Namespace "default" }}{{ fail "this canary is broken" }}{{ end }}metadata: {labels: {a: b}}';
  config.spec.injection['templates'] = { sidecar: text };
  return config;
}
