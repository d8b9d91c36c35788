import type { InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';

/** A marked InjectorConfig whose pods crash: the fake kubelets read it from an annotation that the template brings. */
export function failingConfig(name: string, mark: string): InjectorConfigObject {
  return withTemplate(markedConfig(name, mark), (template) =>
    template.replace('  annotations:\n', '  annotations:\n    e2e.sidecar-injector.io/outcome: crash\n'),
  );
}

/** A marked InjectorConfig whose template compiles, and fails for every pod. */
export function brokenConfig(name: string, mark: string): InjectorConfigObject {
  return withTemplate(markedConfig(name, mark), (template) =>
    template.replace('{{ .Values.mark }}', '{{ fail "this canary is broken" }}'),
  );
}

function withTemplate(config: InjectorConfigObject, edit: (template: string) => string): InjectorConfigObject {
  const { injection } = config.spec;
  const { sidecar = '' } = injection['templates'] as { sidecar?: string };
  return { ...config, spec: { ...config.spec, injection: { ...injection, templates: { sidecar: edit(sidecar) } } } };
}
