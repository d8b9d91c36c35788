import { joinBundle, parseBundle, readCertificate } from '../read-certificate.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { isAccepted } from './rotation-state.ts';
import { verifyServingPair, type ChainExpectation, type ChainFault, type ServingPair } from '../verify-chain.ts';

/** A valid pair that another issuer provides, used instead of self-signed certificates. */
export interface GivenCertificates extends CertifiedKey {
  /** The one authority that clients must trust. The operator does not have its key. */
  readonly authorityPem: string;
  /** The source, for messages, e.g. `Secret injection/webhook-tls`. */
  readonly origin: string;
}

/** The pair of another issuer, or `Unavailable` while that issuer provides no usable pair. */
export type CertificateSource = GivenCertificates | 'Unavailable';

/** A fault, and the key of the Secret in which it was found. */
export interface GivenFault extends ChainFault {
  readonly key: 'tls.crt' | 'tls.key' | 'ca.crt';
}

/** The maximum length of each PEM text in characters, about thirty certificates. */
const longestText = 65_536;

/** Checks a provided pair as the API server will; keeps the first authority that verifies it. */
export function checkGivenPair(
  pair: ServingPair,
  origin: string,
  expected: Required<ChainExpectation>,
): { readonly given: GivenCertificates } | { readonly faults: readonly [GivenFault, ...GivenFault[]] } {
  for (const [key, text] of [
    ['tls.crt', pair.certificatePem],
    ['ca.crt', pair.caPem],
  ] as const)
    if (text.length > longestText)
      return {
        faults: [{ key, reason: 'Unreadable', message: 'longer than 64 KiB; keep only the certificates of this pair' }],
      };
  const authorities = parseBundle(pair.caPem);
  const noAuthority: ChainFault[] =
    authorities.length === 0 ? [{ reason: 'Untrusted', message: 'the authorities contain no certificate in PEM' }] : [];
  const found = verifyServingPair(pair, expected).filter(
    ({ reason }) => reason !== 'Untrusted' || authorities.length > 0,
  );
  const [fault, ...others] = [...found, ...noAuthority].map((each) => ({ ...each, key: keyOf(each) }));
  if (fault !== undefined) return { faults: [fault, ...others] };
  const authority = authorities.find(({ pem }) => isAccepted(pair.certificatePem, pem, expected.now));
  if (authority === undefined) {
    // Unreachable: verifyServingPair found a chain to one of these authorities.
    throw new Error('no single authority verifies the certificate, but all of them together do');
  }
  const certificatePem = joinBundle([pair.certificatePem]);
  return { given: { certificatePem, privateKeyPem: pair.privateKeyPem, authorityPem: authority.pem, origin } };
}

function keyOf({ reason }: ChainFault): GivenFault['key'] {
  if (reason === 'KeyMismatch') return 'tls.key';
  return reason === 'Untrusted' ? 'ca.crt' : 'tls.crt';
}

/** Reports whether an authority of the rotation is the authority of the provided pair. */
export function isAuthorityOf(
  authority: { readonly certificatePem: string } | undefined,
  given: GivenCertificates,
): boolean {
  if (authority === undefined) return false;
  return readCertificate(authority.certificatePem).fingerprint === readCertificate(given.authorityPem).fingerprint;
}
