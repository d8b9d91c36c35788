import type { InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';

/** A marked InjectorConfig whose pods crash: the fake kubelets read it from an annotation that the template brings. */
export function failingConfig(name: string, mark: string): InjectorConfigObject {
  return markedConfig(name, mark, {}, 'crash');
}

/** A marked InjectorConfig whose template works for the pods with which it is tried, and fails for every pod outside of namespace `default`. */
export function brokenConfig(name: string, mark: string): InjectorConfigObject {
  const config = markedConfig(name, mark);
  const text =
    '{{ if ne .ObjectMeta.Namespace "default" }}{{ fail "this canary is broken" }}{{ end }}metadata: {labels: {a: b}}';
  config.spec.injection['templates'] = { sidecar: text };
  return config;
}
