import type { Certificate } from '../read-certificate.ts';
import { isAccepted, type CertifiedLeaf, type StoredAuthority } from './rotation-state.ts';
import {
  parsePair,
  verifyServingPair,
  type ChainExpectation,
  type ChainFault,
  type ServingPair,
} from '../verify-chain.ts';

/** A valid pair that another issuer provides, used instead of self-signed certificates. */
export interface GivenCertificates extends CertifiedLeaf {
  /** The one authority that clients must trust. The operator does not have its key. */
  readonly authority: Certificate;
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
  const parsed = parsePair(pair);
  const { authorities, privateKeyPem } = parsed;
  const [leaf, ...intermediates] = parsed.chain;
  const noAuthority: ChainFault[] =
    authorities.length === 0 ? [{ reason: 'Untrusted', message: 'the authorities contain no certificate in PEM' }] : [];
  const found = verifyServingPair(parsed, expected).filter(
    ({ reason }) => reason !== 'Untrusted' || authorities.length > 0,
  );
  const [fault, ...others] = [...found, ...noAuthority].map((each) => ({ ...each, key: keyOf(each) }));
  if (fault !== undefined) return { faults: [fault, ...others] };
  const authority = authorities.find((each) => isAccepted(parsed.chain, [each], expected.now));
  if (leaf === undefined || authority === undefined) {
    // Unreachable: verifyServingPair found a chain to one of these authorities.
    throw new Error('no single authority verifies the certificate, but all of them together do');
  }
  return { given: { chain: [leaf, ...intermediates], privateKeyPem, authority, origin } };
}

function keyOf({ reason }: ChainFault): GivenFault['key'] {
  if (reason === 'KeyMismatch') return 'tls.key';
  return reason === 'Untrusted' ? 'ca.crt' : 'tls.crt';
}

/** Reports whether an authority of the rotation is the authority of the provided pair. */
export function isAuthorityOf(authority: StoredAuthority | undefined, given: GivenCertificates): boolean {
  return authority?.chain[0].fingerprint === given.authority.fingerprint;
}
