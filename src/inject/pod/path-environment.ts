import { toUpper } from '../../template/functions/sprig/text/letter-case.ts';

/** Environment variables by name. */
export type Environment = ReadonlyMap<string, string>;

const knownKeys: ReadonlyMap<string, string> = new Map([
  ['cluster', 'ISTIO_META_CLUSTER_ID'],
  ['net', 'ISTIO_META_NETWORK'],
]);

/** Returns the environment variable for a key of the path. */
export function environmentName(key: string): string {
  return knownKeys.get(key) ?? toUpper(key);
}

/**
 * Parses proxy variables from a webhook's URL path like Istio's parseInjectEnvs: `/inject/k/v/…`
 * with `--slash--` for `/` in values, or the older `/inject/:ENV:k=v:ENV:…`. Percent-decodes first.
 */
export function parsePathEnvironment(path: string): Environment {
  const plain = decoded(path);
  const trimmed = plain.endsWith('/') ? plain.slice(0, -1) : plain;
  const start = trimmed.indexOf('/', trimmed.indexOf('/') + 1);
  const environment = new Map<string, string>();
  if (start < 0) return environment;
  for (const [key, value] of pairsOf(trimmed.slice(start + 1))) {
    const name = environmentName(key);
    if (name !== '') environment.set(name, value);
  }
  return environment;
}

function decoded(path: string): string {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch {
    return path;
  }
}

function pairsOf(text: string): [string, string][] {
  if (text.startsWith(':ENV:')) {
    return text.split(':ENV:').flatMap((pair): [string, string][] => {
      const equals = pair.indexOf('=');
      return equals > 0 ? [[pair.slice(0, equals), pair.slice(equals + 1)]] : [];
    });
  }
  const parts = text.split('/');
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    pairs.push([parts[index] ?? '', (parts[index + 1] ?? '').replaceAll('--slash--', '/')]);
  }
  return pairs;
}
