import { createHash } from 'node:crypto';
import type { ConfigurationFiles } from './configuration-files.ts';

/**
 * Returns the first 8 hex digits of SHA-256 over the canonical JSON (sorted keys, no spaces) of the
 * four texts. The hash identifies a configuration; it is too short to protect against tampering.
 */
export function configurationHash({ config, mesh, settings, values }: ConfigurationFiles): string {
  return createHash('sha256').update(JSON.stringify({ config, mesh, settings, values })).digest('hex').slice(0, 8);
}
