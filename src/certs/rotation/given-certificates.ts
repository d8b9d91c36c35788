import { joinBundle, parseBundle, readCertificate } from '../read-certificate.ts';
import type { CertifiedKey } from '../key-pair.ts';
import { isAccepted } from './rotation-state.ts';
import { verifyServingPair, type ChainExpectation, type ChainFault, type ServingPair } from '../verify-chain.ts';

/** A pair that somebody else has issued and that can serve: an input of the rotation in place of what it would issue itself. */
export interface GivenCertificates extends CertifiedKey {
  /** The one authority that clients must trust for it. Its key is not known here. */
  readonly authorityPem: string;
  /** Where it came from, for messages, e.g. `Secret injection/webhook-tls`. */
  readonly origin: string;
}

/** Absent: the operator is its own authority. `Unavailable`: somebody else issues, and has none that could serve now. */
export type CertificateSource = GivenCertificates | 'Unavailable';

/** What is to be done about a fault, and in which key of a Secret it lies. */
export interface GivenFault extends ChainFault {
  readonly key: 'tls.crt' | 'tls.key' | 'ca.crt';
}

/** In characters of PEM: some thirty certificates. */
const longestText = 65_536;

/** Checks a pair that a user brings, as the API server will. Of its authorities only the first that verifies it is published. */
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
        faults: [
          { key, reason: 'Unreadable', message: 'more than 64 KiB, of which each certificate would have to be tried' },
        ],
      };
  const authorities = parseBundle(pair.caPem);
  const noAuthority: ChainFault[] =
    authorities.length === 0
      ? [{ reason: 'Untrusted', message: 'no certificate in PEM was found where the authorities are expected' }]
      : [];
  const found = verifyServingPair(pair, expected).filter(
    ({ reason }) => reason !== 'Untrusted' || authorities.length > 0,
  );
  const [fault, ...others] = [...found, ...noAuthority].map((each) => ({ ...each, key: keyOf(each) }));
  if (fault !== undefined) return { faults: [fault, ...others] };
  const authority = authorities.find(({ pem }) => isAccepted(pair.certificatePem, pem, expected.now));
  if (authority === undefined) {
    // verifyServingPair found a chain to one of them.
    throw new Error('no single authority verifies a certificate that all of them together do');
  }
  const certificatePem = joinBundle([pair.certificatePem]);
  return { given: { certificatePem, privateKeyPem: pair.privateKeyPem, authorityPem: authority.pem, origin } };
}

function keyOf({ reason }: ChainFault): GivenFault['key'] {
  if (reason === 'KeyMismatch') return 'tls.key';
  return reason === 'Untrusted' ? 'ca.crt' : 'tls.crt';
}

/** Whether an authority of the rotation is the one of given certificates. */
export function isAuthorityOf(
  authority: { readonly certificatePem: string } | undefined,
  given: GivenCertificates,
): boolean {
  if (authority === undefined) return false;
  return readCertificate(authority.certificatePem).fingerprint === readCertificate(given.authorityPem).fingerprint;
}
