import type { ConfigurationFiles } from '../api/configuration-files.ts';
import type { InjectionSettings } from '../api/injection-settings.ts';
import { compileLabelSelector, type CompiledSelector } from './decision/label-selector.ts';
import type { DecisionRules } from './decide.ts';
import { parseInjectorConfig, type SelectorText } from './configuration/parse-injector-config.ts';
import { parseSettings } from './configuration/parse-settings.ts';
import { systemNamespaces } from '../api/system-namespaces.ts';
import type { LabelSelector } from '../api/kubernetes.ts';

/** How the engine behaves where Istio's webhook and `istioctl kube-inject` differ; a property of the configuration, not of the caller. */
export type InjectionSemantics = 'Webhook' | 'KubeInject';

export interface InjectorOptions {
  /**
   * `Webhook` (when absent): everything counts. `KubeInject`: of the config only `templates` counts, the policy is enabled, the revision is
   * empty, and the annotation `proxy.istio.io/config` is applied onto the mesh config field by field.
   */
  readonly semantics?: InjectionSemantics;
}

/** A configuration ready for use: everything that does not depend on a pod is done. Immutable; share it between requests. */
export interface Injector {
  readonly semantics: InjectionSemantics;
  readonly settings: Required<InjectionSettings>;
  readonly rules: DecisionRules;
  /** The names of the templates, sorted. */
  readonly templateNames: readonly string[];
  readonly defaultTemplates: readonly string[];
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly injectedAnnotations: ReadonlyMap<string, string>;
  /** What is odd in the configuration without making it unusable, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads and compiles a configuration.
 * @throws ConfigurationError naming the key, and where there is one the line and column.
 */
export function loadInjector(files: ConfigurationFiles, options: InjectorOptions = {}): Injector {
  const semantics = options.semantics ?? 'Webhook';
  const settings = parseSettings(files.settings);
  const config = parseInjectorConfig(files.config);
  const warnings: string[] = [];
  const compileAll = (key: string, selectors: readonly SelectorText[]): CompiledSelector[] =>
    selectors.map((selector, index) => {
      const compiled = compileLabelSelector(selector as LabelSelector);
      if ('invalid' in compiled) warnings.push(`config: ${key}[${index}] is passed over: ${compiled.invalid}`);
      return compiled;
    });
  return {
    semantics,
    settings,
    rules: {
      policy: config.policy,
      neverInject: compileAll('neverInjectSelector', config.neverInjectSelector),
      alwaysInject: compileAll('alwaysInjectSelector', config.alwaysInjectSelector),
      ignoredNamespaces: new Set(systemNamespaces),
      injectKey: settings.keys.inject,
    },
    templateNames: [...config.templates.keys()].sort(),
    defaultTemplates: config.defaultTemplates,
    aliases: config.aliases,
    injectedAnnotations: config.injectedAnnotations,
    warnings,
  };
}
