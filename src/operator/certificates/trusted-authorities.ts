import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { type ProvidedCertificates, refused } from './certificate-provider.ts';

/** The authorities that a spec trusts, PEM; or why there are none. */
export type Trust = { readonly pem: string } | { readonly refusal: ProvidedCertificates };

/** `spec.certificate.caBundle` and `caBundleFrom`, what that names followed. */
export class TrustedAuthorities {
  readonly #followed: Readonly<Record<'ConfigMap' | 'Secret', FollowedObjects>>;
  readonly #namespace: string;

  constructor(followed: Readonly<Record<'ConfigMap' | 'Secret', FollowedObjects>>, namespace: string) {
    this.#followed = followed;
    this.#namespace = namespace;
  }

  /** Undefined where the spec names none. */
  async read({ metadata: { name: user }, spec }: InjectorConfig, signal: AbortSignal): Promise<Trust | undefined> {
    const { caBundle, caBundleFrom: from } = spec.certificate;
    this.forget(user, from?.kind);
    if (caBundle !== undefined) return trust(asPem(caBundle), 'spec.certificate.caBundle');
    if (from === undefined) return undefined;
    const place = { namespace: this.#namespace, name: from.name };
    const what = `${from.kind} ${place.namespace}/${place.name}`;
    const field = `spec.certificate.caBundleFrom: ${what}`;
    this.#followed[from.kind].keepOnly(user, [place]);
    const object = await this.#followed[from.kind].read(user, place, signal);
    if (object === undefined)
      return missing(`${field} does not exist; create it with the authorities, PEM, in key ${from.key}`);
    const text = ((object.data ?? {}) as Record<string, unknown>)[from.key];
    if (typeof text !== 'string') return missing(`${field} has no key ${from.key}; put the authorities there, PEM`);
    return trust(from.kind === 'Secret' ? asPem(text) : text, `${field}, key ${from.key}`);
  }

  /** Follows nothing for it any more. @param kept but objects of this kind */
  forget(injectorConfig: string, kept?: 'ConfigMap' | 'Secret'): void {
    for (const kind of ['ConfigMap', 'Secret'] as const)
      if (kind !== kept) this.#followed[kind].keepOnly(injectorConfig, []);
  }
}

/** As PEM, or in base64 as webhooks have it. */
function asPem(text: string): string {
  return text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8');
}

/** As many as `spec.certificate.caBundle` takes: each is read and tried in every pass. */
const longestTrust = 65_536;

function trust(pem: string, where: string): Trust {
  if (pem.length > longestTrust)
    return missing(`${where}: more than 64 KiB; put those authorities there alone that sign, not all that there are`);
  return parseBundle(pem).length > 0
    ? { pem }
    : missing(`${where}: there is no certificate in PEM; put the authorities there that sign`);
}

function missing(message: string): Trust {
  return { refusal: refused('TrustMissing', message) };
}
