import { Buffer } from 'node:buffer';
import type { Mistake } from '../mistake.ts';
import { labelSelectorMistakes } from '../kubernetes/label-selector-mistakes.ts';
import { maximumConfigurationBytes } from './configuration-files.ts';
import type { InjectorConfig } from './injector-config.ts';
import { nameRules, specRules } from './injector-config-rules.ts';
import { qualifiedNamePattern } from '../kubernetes/field-types.ts';
import { brokenRules } from '../validation-rules.ts';

/** Returns the mistakes that can be found without compiling templates or reading the cluster. */
export function validateInjectorConfig(config: InjectorConfig): Mistake[] {
  const { injection, webhook } = config.spec;
  return [
    ...brokenRules(nameRules, specRules, config),
    ...templateNameMistakes(config),
    ...annotationMistakes(injection.injectedAnnotations),
    ...(['alwaysInjectSelector', 'neverInjectSelector'] as const).flatMap((name) =>
      injection[name].flatMap((selector, index) => labelSelectorMistakes(`spec.injection.${name}[${index}]`, selector)),
    ),
    ...labelSelectorMistakes('spec.webhook.namespaceSelector', webhook.namespaceSelector),
    ...labelSelectorMistakes('spec.webhook.objectSelector', webhook.objectSelector),
    ...sizeMistakes(config),
  ];
}

/**
 * Returns the default templates if none are named: the only template, or `sidecar`. Undefined where
 * Istio's default `sidecar` exists or cannot be replaced, so that its configuration stays the same.
 */
export function impliedTemplates({
  templates = {},
  aliases,
}: InjectorConfig['spec']['injection']): readonly string[] | undefined {
  const names = Object.keys(templates);
  return names.length === 1 && !names.includes('sidecar') && !Object.hasOwn(aliases, 'sidecar') ? names : undefined;
}

/** Finds unknown names in defaultTemplates and aliases. Pods that use such a name are refused. */
function templateNameMistakes({ spec: { injection } }: InjectorConfig): Mistake[] {
  const { templates, defaultTemplates = impliedTemplates(injection) ?? ['sidecar'], aliases } = injection;
  if (templates === undefined) return [];
  const available = Object.keys(templates).sort();
  const known = new Set([...available, ...Object.keys(aliases)]);
  const unknown = (field: string, name: string): Mistake => ({
    field,
    message: `${field}: ${JSON.stringify(name)} is not in spec.injection.templates; use one of ${available.join(', ')}`,
  });
  return [
    ...defaultTemplates
      .filter((name) => !known.has(name))
      .map((name) => unknown('spec.injection.defaultTemplates', name)),
    // The injector expands aliases only once, so an alias cannot contain another alias.
    ...Object.entries(aliases).flatMap(([alias, names]) =>
      names
        .filter((name) => !Object.hasOwn(templates, name))
        .map((name) => unknown(`spec.injection.aliases.${alias}`, name)),
    ),
  ];
}

function annotationMistakes(annotations: Readonly<Record<string, string>>): Mistake[] {
  const field = 'spec.injection.injectedAnnotations';
  return Object.keys(annotations)
    .filter((name) => !qualifiedNamePattern.test(name))
    .map((name) => ({
      field,
      message: `${field}: ${JSON.stringify(name)} is not an annotation name such as example.com/team; correct it`,
    }));
}

function sizeMistakes({ spec: { injection } }: InjectorConfig): Mistake[] {
  const { templates = {}, template = '', values = {}, meshConfig = {} } = injection;
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const sizes = { templates: bytes(templates) + bytes(template), values: bytes(values), meshConfig: bytes(meshConfig) };
  const total = sizes.templates + sizes.values + sizes.meshConfig;
  if (total <= maximumConfigurationBytes) return [];
  const each = Object.entries(sizes).map(([key, size]) => `${key} ${Math.ceil(size / 1024)}`);
  return [
    {
      field: 'spec.injection',
      message: `spec.injection is too large for a ConfigMap: ${each.join(', ')} KiB, in total more than 900 KiB; shorten it`,
    },
  ];
}
