import { z } from 'zod';
import { ConfigurationError } from '../../api/errors.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { YamlError } from '../yaml/yaml-error.ts';
import { isNode, LineCounter, parseDocument } from 'yaml';

const selector = z.object({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).nullish() }))
    .nullish(),
});

const configSchema = z.object({
  policy: z.string().nullish(),
  defaultTemplates: z.array(z.string()).nullish(),
  templates: z.record(z.string(), z.string()).nullish(),
  template: z.string().nullish(),
  aliases: z.record(z.string(), z.array(z.string())).nullish(),
  neverInjectSelector: z.array(selector).nullish(),
  alwaysInjectSelector: z.array(selector).nullish(),
  injectedAnnotations: z.record(z.string(), z.string()).nullish(),
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
 * (Istio's own ConfigMaps carry a `template` that makes old versions fail).
 * @throws ConfigurationError naming key, line and column.
 */
export function parseInjectorConfig(text: string): InjectorConfigText {
  const parsed = configSchema.safeParse(readYaml(text) ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []).map((part) => (typeof part === 'symbol' ? String(part) : part));
    const field = ['config', ...path].join('.');
    throw new ConfigurationError(field, `${field}${locateInYaml(text, path)}: ${issue?.message ?? 'invalid'}`);
  }
  const config = parsed.data;
  const legacy = (config.templates ?? undefined) === undefined && typeof config.template === 'string';
  const templates = legacy ? { [defaultTemplateName]: config.template ?? '' } : (config.templates ?? {});
  const defaults = config.defaultTemplates ?? [];
  return {
    policy: config.policy ?? '',
    defaultTemplates: defaults.length > 0 ? defaults : [defaultTemplateName],
    templates: new Map(Object.entries(templates)),
    legacy,
    aliases: new Map(Object.entries(config.aliases ?? {})),
    neverInjectSelector: config.neverInjectSelector ?? [],
    alwaysInjectSelector: config.alwaysInjectSelector ?? [],
    injectedAnnotations: new Map(Object.entries(config.injectedAnnotations ?? {})),
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
