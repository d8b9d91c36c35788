import { z } from 'zod';
import { ConfigurationError } from '../../api/errors.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { PlaceDependent, resolvePlain, UNSUPPORTED_KEY } from '../yaml/plain-scalar.ts';
import { isNode, isScalar, LineCounter, parseDocument } from 'yaml';

/** A string of Go's: `null` and what is absent are empty. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const texts = listOf(text);
const textMap = z
  .record(z.string(), text)
  .nullish()
  .transform((members) => members ?? {});

function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
}

const selector = z.object({
  matchLabels: textMap,
  matchExpressions: listOf(z.object({ key: text, operator: text, values: texts })),
});

const configSchema = z.object({
  policy: text,
  defaultTemplates: texts,
  templates: z.record(z.string(), text).nullish(),
  template: z.string().nullish(),
  aliases: z.record(z.string(), texts).nullish(),
  neverInjectSelector: listOf(selector),
  alwaysInjectSelector: listOf(selector),
  injectedAnnotations: textMap,
});

export type SelectorText = z.infer<typeof selector>;

/** Istio's injector config (the key `config` of its ConfigMap), the fields that are read; absent ones have Istio's defaults. */
export interface InjectorConfigText {
  readonly policy: string;
  readonly defaultTemplates: readonly string[];
  readonly templates: ReadonlyMap<string, string>;
  /** Whether the templates came as the single `template` of Istio 1.x: it renders a SidecarInjectionSpec. */
  readonly legacy: boolean;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly neverInjectSelector: readonly SelectorText[];
  readonly alwaysInjectSelector: readonly SelectorText[];
  readonly injectedAnnotations: ReadonlyMap<string, string>;
}

/** The name of the one template of a 1.x config, and the default template of any. */
const defaultTemplateName = 'sidecar';

/**
 * Reads an injector config of either shape: `templates` by name, or the single `template` of Istio 1.x. With both, `templates` counts
 * (Istio's own ConfigMaps carry a `template` that makes old versions fail). A number or boolean where a string belongs becomes one, as by
 * sigs.k8s.io/yaml: `on` is `"true"`, `1.10` is `"1.1"`.
 * @throws ConfigurationError naming key, line and column.
 */
export function parseInjectorConfig(text: string): InjectorConfigText {
  const yaml = readYaml(text) ?? {};
  const strict = configSchema.safeParse(yaml);
  const parsed = strict.success ? strict : configSchema.safeParse(withStrings(yaml, text, strict.error.issues));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []) as (string | number)[];
    const field = ['config', ...path].join('.');
    throw new ConfigurationError(field, `${field}${locateInYaml(text, path)}: ${issue?.message ?? 'invalid'}`);
  }
  const config = parsed.data;
  const legacy = (config.templates ?? undefined) === undefined && typeof config.template === 'string';
  const templates = legacy ? { [defaultTemplateName]: config.template ?? '' } : (config.templates ?? {});
  return {
    policy: config.policy,
    defaultTemplates: config.defaultTemplates.length > 0 ? config.defaultTemplates : [defaultTemplateName],
    templates: new Map(Object.entries(templates)),
    legacy,
    aliases: new Map(Object.entries(config.aliases ?? {})),
    neverInjectSelector: config.neverInjectSelector,
    alwaysInjectSelector: config.alwaysInjectSelector,
    injectedAnnotations: new Map(Object.entries(config.injectedAnnotations)),
  };
}

function readYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ConfigurationError('config', `config: ${error.message}`, { cause: error });
  }
}

/** A config with texts in place of the numbers and booleans that the schema has found where strings belong. */
function withStrings(config: unknown, text: string, issues: readonly z.core.$ZodIssue[]): unknown {
  const document = parseDocument(text);
  const copy = structuredClone(config);
  for (const issue of issues) {
    if (issue.code !== 'invalid_type' || issue.expected !== 'string') continue;
    const names = issue.path as (string | number)[];
    const parent = names.slice(0, -1).reduce((value, name) => (value as Record<string, unknown>)[name], copy);
    const last = names.at(-1) ?? '';
    const value = (parent as Record<string, unknown>)[last];
    const node = document.getIn(names, true);
    const source = isScalar(node) ? node.source : undefined;
    if (typeof value === 'number' || typeof value === 'boolean')
      (parent as Record<string, unknown>)[last] = goText(value, source);
  }
  return copy;
}

/** What sigs.k8s.io/yaml makes of a scalar where Go's type is a string: of a float its digits in single precision. @param source absent of an alias */
function goText(value: number | boolean, source: string | undefined): string {
  if (source === undefined) return String(value);
  const resolved = resolvePlain(source);
  if (!(resolved instanceof PlaceDependent)) return String(resolved);
  return resolved.key === UNSUPPORTED_KEY ? String(BigInt(source.replaceAll(/[_+]/g, ''))) : resolved.key;
}

/** Where a path stands in a YAML text, as ` (line 3, column 5)`; empty when it stands nowhere. For error messages only: it parses the text again. */
function locateInYaml(text: string, path: readonly (string | number)[]): string {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (!isNode(node) || !node.range) continue;
    const { line, col } = lineCounter.linePos(node.range[0]);
    return ` (line ${line}, column ${col})`;
  }
  return '';
}
