import type { ConfigurationFiles } from '../api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../api/injector-config/injection-settings.ts';
import type { LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { systemNamespaces } from '../api/kubernetes/system-namespaces.ts';
import type { ExecutionLimits } from '../template/exec/execution.ts';
import { atOnce, type Steps } from '../steps/steps.ts';
import { familyOf, type Family } from './configuration/family.ts';
import type { KnownTemplates } from './configuration/known-templates.ts';
import type { InjectorConfigText, SelectorText } from './configuration/parse-injector-config.ts';
import { readConfiguration, type ReadConfiguration } from './configuration/read-configuration.ts';
import type { Values } from './configuration/values.ts';
import type { Rehearsal } from './injection-result.ts';
import type { DecisionRules } from './decide.ts';
import { compileLabelSelector, type CompiledSelector } from '../selection/label-selector.ts';
import type { Message } from './mesh/decode-message.ts';
import { proxyConfigLayers, type ProxyConfigLayers } from './mesh/effective-proxy-config.ts';
import { environmentName, type Environment } from './pod/path-environment.ts';
import { authorGuard, type AuthorGuard } from './safety/author-guard.ts';
import type { TemplateSet } from './render/run-templates.ts';
import { ConfigurationError } from '../api/errors.ts';
import { compileTemplateInSteps, type Template } from '../template/template.ts';
import { TemplateError } from '../template/template-error.ts';
import { stableDataFields } from './template-data/template-data.ts';
import { TemplateOutputs } from './render/template-outputs.ts';
import { functionsOfFamily } from '../template/functions/go/function-families.ts';

/** Matches calls of the sprig functions that change a map in their arguments. */
const dataChange = /\b(?:set|unset|(?:mustM|m)erge(?:Overwrite)?)\s+[.$(]/;

/** Compiles the templates that `find` does not return. @throws ConfigurationError with position */
export function* compileTemplates(
  config: InjectorConfigText,
  delimiters: readonly [string, string],
  limits: ExecutionLimits,
  find: (text: string) => Template | undefined = () => undefined,
): Steps<TemplateSet> {
  const byName = new Map<string, Template>();
  const changesData = [...config.templates.values()].some((text) => dataChange.test(text));
  for (const [name, text] of config.templates) {
    yield;
    byName.set(name, find(text) ?? (yield* compileOne(name, text, config.legacy, delimiters)));
  }
  return { byName, legacy: config.legacy, limits, outputs: new TemplateOutputs(), changesData };
}

function* compileOne(
  name: string,
  text: string,
  legacy: boolean,
  delimiters: readonly [string, string],
): Steps<Template> {
  try {
    // Istio compiles every template under the name `inject`, which its runtime errors contain.
    const options = {
      name: 'inject',
      delimiters,
      functions: functionsOfFamily('istio'),
      stableFields: stableDataFields,
    };
    return yield* compileTemplateInSteps(text, options);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const field = legacy ? 'config.template' : `config.templates.${name}`;
    const { line, column } = error.position;
    const location = `${field}: line ${line}, column ${column + 1}`;
    const [, ...shown] = error.caret();
    throw new ConfigurationError(field, [`${location}: ${error.reason}`, ...shown].join('\n'), { cause: error });
  }
}

/** The tool to follow where Istio's webhook and `istioctl kube-inject` behave differently. */
export type InjectionSemantics = 'Webhook' | 'KubeInject';

export interface InjectorOptions {
  /**
   * `Webhook` (default) uses the whole config. `KubeInject` uses only `templates`: the policy is
   * enabled, the revision is empty, and `proxy.istio.io/config` merges into the mesh config field
   * by field.
   */
  readonly semantics?: InjectionSemantics;
  /**
   * The limits per template execution; `work` limits all work for a pod. A pod that exceeds a limit
   * fails with the reason `TemplateLimit`.
   */
  readonly limits?: ExecutionLimits;
  /** The files that another thread has read. If set, only the templates are compiled. */
  readonly read?: ReadConfiguration;
  /** The compiled templates that are in use. New templates are added. */
  readonly known?: KnownTemplates;
}

/** A compiled configuration. Immutable; share it between requests. */
export interface Injector {
  readonly files: ConfigurationFiles;
  readonly semantics: InjectionSemantics;
  readonly settings: Required<InjectionSettings>;
  readonly family: Family;
  readonly rules: DecisionRules;
  /** The names of the templates, sorted. */
  readonly templateNames: readonly string[];
  readonly templates: TemplateSet;
  readonly defaultTemplates: readonly string[];
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly injectedAnnotations: ReadonlyMap<string, string>;
  readonly values: Values;
  /** The effective MeshConfig, as canonical protobuf JSON. */
  readonly meshConfig: Message;
  readonly proxyConfigLayers: ProxyConfigLayers;
  /** Whether a template or the engine uses a pod's ProxyConfig. */
  readonly readsProxyConfig: boolean;
  /** The proxy environment from the settings; a request's path overrides it. */
  readonly environment: Environment;
  /** Problems that do not make the configuration unusable, one sentence each. */
  readonly warnings: readonly string[];
  /** The result of trying typical pods; absent if no pods were tried. */
  readonly rehearsal?: Rehearsal;
  /** The restrictions on authors of pods; absent under preset Istio. */
  readonly guard?: AuthorGuard;
}

/** The parts of a configuration that need no compiled templates. */
export type ConfigurationOutline = Pick<
  Injector,
  'settings' | 'rules' | 'templateNames' | 'defaultTemplates' | 'aliases' | 'warnings' | 'rehearsal'
>;

/** Returns the parts of a configuration that need no compiled templates. */
export function outlineOf(read: Pick<ReadConfiguration, 'settings' | 'config' | 'rehearsal'>): ConfigurationOutline {
  const { settings, config, rehearsal } = read;
  const { policy } = config;
  // Istio accepts any text as policy, and injects nothing under an unknown policy.
  const unknown = `config: policy is "${policy}", neither "enabled" nor "disabled": nothing is injected`;
  const warnings = policy === 'enabled' || policy === 'disabled' ? [] : [unknown];
  return {
    settings,
    rules: {
      policy,
      neverInject: compileSelectors('neverInjectSelector', config.neverInjectSelector, warnings),
      alwaysInject: compileSelectors('alwaysInjectSelector', config.alwaysInjectSelector, warnings),
      ignoredNamespaces: new Set(systemNamespaces),
      injectKey: settings.keys.inject,
      skipsWindows: settings.windowsPods === 'Skip',
    },
    templateNames: [...config.templates.keys()].sort(),
    defaultTemplates: config.defaultTemplates,
    aliases: config.aliases,
    warnings,
    ...(rehearsal && { rehearsal }),
  };
}

/**
 * Reads and compiles a configuration.
 * @throws ConfigurationError that names the key, and the line and column if they are known
 */
export function loadInjector(files: ConfigurationFiles, options: InjectorOptions = {}): Injector {
  return atOnce(loadInjectorInSteps(files, options));
}

/** Does the work of {@link loadInjector} in steps, between which other work can run. */
export function* loadInjectorInSteps(files: ConfigurationFiles, options: InjectorOptions = {}): Steps<Injector> {
  const semantics = options.semantics ?? 'Webhook';
  const { settings, config, mesh, values, rehearsal } = options.read ?? (yield* readConfiguration(files));
  const { known } = options;
  const context = `${config.legacy ? 'template' : 'templates'} ${files.settings}`;
  const templates = yield* compileTemplates(config, settings.delimiters, options.limits ?? {}, (text) =>
    known?.find(context, text),
  );
  known?.note(context, config.templates, templates.byName);
  const family = familyOf(settings.keys, config.templates.values());
  const overrides = settings.annotationOverrides;
  const guard =
    overrides.preset === 'Istio'
      ? undefined
      : yield* authorGuard(config.templates, settings.delimiters, family, overrides, values.all);
  const isKubeInject = semantics === 'KubeInject';
  const effective = isKubeInject ? onlyTemplates(config) : config;
  const served = isKubeInject ? { ...settings, revision: '' } : settings;
  return {
    ...outlineOf({ settings: served, config: effective, ...(rehearsal && { rehearsal }) }),
    files,
    semantics,
    family,
    templates,
    injectedAnnotations: effective.injectedAnnotations,
    values,
    meshConfig: mesh,
    proxyConfigLayers: proxyConfigLayers(mesh),
    readsProxyConfig: family.proxy || [...config.templates.values()].some((text) => /Proxy(?:Config|Image)/.test(text)),
    environment: new Map(Object.entries(settings.pathEnvironment).map(([key, value]) => [environmentName(key), value])),
    ...(guard && { guard }),
  };
}

/** Returns the parts of a config that `istioctl kube-inject` reads. */
function onlyTemplates(config: InjectorConfigText): InjectorConfigText {
  return {
    policy: 'enabled',
    defaultTemplates: ['sidecar'],
    templates: config.templates,
    legacy: config.legacy,
    aliases: new Map(),
    neverInjectSelector: [],
    alwaysInjectSelector: [],
    injectedAnnotations: new Map(),
  };
}

function compileSelectors(key: string, selectors: readonly SelectorText[], warnings: string[]): CompiledSelector[] {
  return selectors.map((selector, index) => {
    const compiled = compileLabelSelector(selector as LabelSelector, 'nothing');
    if ('invalid' in compiled) warnings.push(`config: ${key}[${index}] is ignored: ${compiled.invalid}`);
    return compiled;
  });
}
