import { createHash } from 'node:crypto';
import type { ConfigurationFiles } from './configuration-files.ts';

/**
 * The first 8 hex digits of SHA-256 over the canonical JSON (keys in order, no spaces) of the four texts. It names a configuration in
 * ConfigMaps, paths and pods; it tells configurations apart and protects nothing.
 */
export function configurationHash({ config, mesh, settings, values }: ConfigurationFiles): string {
  return createHash('sha256').update(JSON.stringify({ config, mesh, settings, values })).digest('hex').slice(0, 8);
}
