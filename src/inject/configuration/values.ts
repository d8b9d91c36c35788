import { ConfigurationError } from '../../api/errors.ts';
import { Meter } from '../../template/exec/meter.ts';
import { formatValue } from '../../template/functions/go/print-value.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';

/** All values, which templates read, and the values that the engine reads. */
export type Values = Readonly<ReturnType<typeof parseValues>>;

/** Parses values in JSON or YAML. @throws ConfigurationError if a value has the wrong type */
export function parseValues(text: string) {
  const all = readObject(text);
  return {
    all,
    hub: textAt(all, 'global', 'hub'),
    tag: tagAt(all),
    variant: textAt(all, 'global', 'variant'),
    // Istio's default image name.
    proxyImage: textAt(all, 'global', 'proxy', 'image') || 'proxyv2',
    proxyInitImage: textAt(all, 'global', 'proxy_init', 'image') || 'proxyv2',
    clusterName: textAt(all, 'global', 'multiCluster', 'clusterName'),
    network: textAt(all, 'global', 'network'),
    rewriteProbes: flagAt(all, 'sidecarInjectorWebhook', 'rewriteAppHTTPProbe'),
    holdApplication: flagAt(all, 'global', 'proxy', 'holdApplicationUntilProxyStarts'),
  };
}

const unreadable = 'values: could not parse configuration values';

function readObject(text: string): JsonObject {
  let values: unknown;
  try {
    values = tryJson(text);
  } catch (error) {
    throw new ConfigurationError('values', `${unreadable}: ${(error as Error).message}`, { cause: error });
  }
  if (values === null) return {};
  if (!isJsonObject(values)) throw new ConfigurationError('values', `${unreadable}: not an object`);
  return values;
}

/** Parses JSON with the JSON parser, which is much faster than the YAML parser. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseYaml(text);
  }
}

function valueAt(values: JsonObject, path: readonly string[]): unknown {
  let value: unknown = values;
  for (const name of path) {
    if (value === undefined || value === null) return undefined;
    if (!isJsonObject(value)) throw wrong(path, 'below an object', value);
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value ?? undefined;
}

function textAt(values: JsonObject, ...path: readonly string[]): string {
  const value = valueAt(values, path) ?? '';
  if (typeof value !== 'string') throw wrong(path, 'a string', value);
  return value;
}

function flagAt(values: JsonObject, ...path: readonly string[]): boolean {
  const value = valueAt(values, path) ?? false;
  if (typeof value !== 'boolean') throw wrong(path, 'a boolean', value);
  return value;
}

/** Returns the tag, which may be a number: `1.12` and `"1.12"` are equal. */
function tagAt(values: JsonObject): string {
  const tag = valueAt(values, ['global', 'tag']);
  return tag === undefined ? '' : formatValue(tag, new Meter());
}

function wrong(path: readonly string[], expected: string, value: unknown): ConfigurationError {
  const field = ['values', ...path].join('.');
  return new ConfigurationError(field, `${field} must be ${expected}, not ${JSON.stringify(value)}`);
}
