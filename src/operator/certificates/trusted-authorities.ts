import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { configMaps, secrets } from '../cluster-view.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { type ProvidedCertificates, refused } from './certificate-provider.ts';

/** The authorities that a spec trusts, in PEM, or the reason why there are none. */
export type Trust = { readonly pem: string } | { readonly refusal: ProvidedCertificates };

/**
 * Reads `spec.certificate.caBundle`, or the object that `caBundleFrom` names. Returns the
 * authorities; undefined if the spec has neither field. @param namespace the operator's namespace
 */
export async function readTrust(
  { metadata, spec }: InjectorConfig,
  followed: FollowedObjects,
  namespace: string,
  signal: AbortSignal,
): Promise<Trust | undefined> {
  const { caBundle, caBundleFrom: from } = spec.certificate;
  if (caBundle !== undefined) return trust(asPem(caBundle), 'spec.certificate.caBundle');
  if (from === undefined) return undefined;
  const field = `spec.certificate.caBundleFrom: ${from.kind} ${namespace}/${from.name}`;
  const resource = from.kind === 'Secret' ? secrets : configMaps;
  const object = await followed.read(metadata.name, resource, { namespace, name: from.name }, signal);
  if (object === undefined)
    return missing(`${field} does not exist; create it with the authorities in PEM in key ${from.key}`);
  const text = ((object.data ?? {}) as Record<string, unknown>)[from.key];
  if (typeof text !== 'string') return missing(`${field} has no key ${from.key}; add the authorities in PEM`);
  return trust(from.kind === 'Secret' ? asPem(text) : text, `${field}, key ${from.key}`);
}

/** Returns PEM unchanged, and decodes PEM in base64, which the `caBundle` of webhooks uses. */
function asPem(text: string): string {
  return text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8');
}

/** The maximum length of the authorities, in characters, since every pass parses all of them. */
const longestTrust = 65_536;

function trust(pem: string, where: string): Trust {
  if (pem.length > longestTrust)
    return missing(`${where}: larger than 64 KiB; include only the authorities that sign serving certificates`);
  return parseBundle(pem).length > 0
    ? { pem }
    : missing(`${where}: no certificate in PEM found; add the authorities that sign serving certificates`);
}

function missing(message: string): Trust {
  return { refusal: refused('TrustMissing', message) };
}
