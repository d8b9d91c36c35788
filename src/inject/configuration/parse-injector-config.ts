import { z } from 'zod';
import { ConfigurationError } from '../../api/errors.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { positionAt } from '../objects/file-error.ts';
import { locate, positionsOfText } from '../objects/positions-of-text.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { PositionDependent, resolvePlain, UNSUPPORTED_KEY } from '../yaml/plain-scalar.ts';

/** A Go string. Null or an absent value means the empty string. */
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

/** The fields of Istio's injector config (ConfigMap key `config`) that are read, with defaults. */
export interface InjectorConfigText {
  readonly policy: string;
  readonly defaultTemplates: readonly string[];
  readonly templates: ReadonlyMap<string, string>;
  /** Whether the config has the single `template` of Istio 1.x, a SidecarInjectionSpec. */
  readonly legacy: boolean;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly neverInjectSelector: readonly SelectorText[];
  readonly alwaysInjectSelector: readonly SelectorText[];
  readonly injectedAnnotations: ReadonlyMap<string, string>;
}

/** The name of the only template of a 1.x config, and the default template of any config. */
const defaultTemplateName = 'sidecar';

/**
 * Parses an injector config with `templates` by name or the single `template` of Istio 1.x. Prefers
 * `templates`: Istio adds a `template` only to make old versions fail. Converts numbers and
 * booleans to strings like sigs.k8s.io/yaml: `on` to `"true"`, `1.10` to `"1.1"`.
 * @throws ConfigurationError that names the key, line and column
 */
export function parseTemplateConfig(text: string): InjectorConfigText {
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

/** Returns a copy with strings instead of the numbers and booleans that the schema rejected. */
function withStrings(config: unknown, text: string, issues: readonly z.core.$ZodIssue[]): unknown {
  const root = positionsOfText(text);
  const copy = structuredClone(config);
  for (const issue of issues) {
    if (issue.code !== 'invalid_type' || issue.expected !== 'string') continue;
    const names = issue.path as (string | number)[];
    const parent = names.slice(0, -1).reduce((value, name) => (value as Record<string, unknown>)[name], copy);
    const last = names.at(-1) ?? '';
    const value = (parent as Record<string, unknown>)[last];
    const { node } = locate(root, names);
    const source = node.kind === 'scalar' ? text.slice(node.start, node.end) : undefined;
    if (typeof value === 'number' || typeof value === 'boolean')
      (parent as Record<string, unknown>)[last] = goText(value, source);
  }
  return copy;
}

/** Converts a scalar to Go's string. @param source the scalar's text; absent for an alias */
function goText(value: number | boolean, source: string | undefined): string {
  if (source === undefined) return String(value);
  const resolved = resolvePlain(source);
  if (!(resolved instanceof PositionDependent)) return String(resolved);
  return resolved.key === UNSUPPORTED_KEY ? String(BigInt(source.replaceAll(/[_+]/g, ''))) : resolved.key;
}

/** Returns ` (line 3, column 5)` for a path in a YAML text, or ''. Parses the text again. */
function locateInYaml(text: string, path: readonly (string | number)[]): string {
  if (path.length === 0) return '';
  const { line, column } = positionAt(text, locate(positionsOfText(text), path).node.start);
  return ` (line ${line}, column ${column})`;
}
