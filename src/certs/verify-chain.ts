import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { parseBundle, type Certificate } from './read-certificate.ts';
import type { CertifiedKey } from './key-pair.ts';
import forge from 'node-forge';

/** A serving certificate, its key, and the authorities that clients trust, all in PEM. */
export interface ServingPair extends CertifiedKey {
  readonly caPem: string;
}

/** A serving pair with parsed certificates. `chain` is empty if its text has no certificate. */
export interface ParsedPair {
  readonly chain: readonly Certificate[];
  readonly authorities: readonly Certificate[];
  readonly privateKeyPem: string;
}

/** Parses the certificates of a pair. Call it where the pair is read. */
export function parsePair({ certificatePem, caPem, privateKeyPem }: ServingPair): ParsedPair {
  return { chain: parseBundle(certificatePem), authorities: parseBundle(caPem), privateKeyPem };
}

export const chainFaults = {
  Unreadable: 'no certificate in PEM was found',
  KeyMismatch: 'the private key does not belong to the certificate',
  NotYetValid: 'the certificate is not valid yet',
  Expired: 'the certificate is no longer valid',
  Untrusted: 'no authority of `ca.crt` has issued the certificate',
  NameMissing: 'the certificate lacks the name by which the API server calls',
  WrongUsage: 'the certificate is not for servers (extended key usage)',
  Unsupported: 'Go does not accept its signature or key',
} as const;

/** A reason why the API server would reject a serving pair. */
export interface ChainFault {
  readonly reason: keyof typeof chainFaults;
  /** One sentence without secrets. */
  readonly message: string;
}

const serverAuth = '1.3.6.1.5.5.7.3.1';
const anyUsage = '2.5.29.37.0';

/** The time of the check, and any names that the certificate must contain. */
export interface ChainExpectation {
  readonly now: Date;
  readonly names?: readonly string[];
}

/** Checks a serving pair as Go's crypto/x509 does. @returns all faults; empty for a valid pair */
export function verifyServingPair(pair: ParsedPair, expected: ChainExpectation): ChainFault[] {
  const { chain, authorities, privateKeyPem } = pair;
  const faults = verifyChain(chain, authorities, expected);
  const [leaf] = chain;
  const fault = leaf && keyFault(leaf.x509, privateKeyPem);
  return fault === undefined ? faults : [{ reason: 'KeyMismatch', message: fault }, ...faults];
}

/** Checks a leaf and intermediates like {@link verifyServingPair}, without the key. */
export function verifyChain(
  [leaf, ...intermediates]: readonly Certificate[],
  authorities: readonly Certificate[],
  expected: ChainExpectation,
): ChainFault[] {
  if (leaf === undefined) {
    const message = 'the serving certificate is not PEM';
    return [{ reason: 'Unreadable', message }];
  }
  const faults: ChainFault[] = [];
  const add = (reason: ChainFault['reason'], message: string | undefined): void => {
    if (message !== undefined) faults.push({ reason, message });
  };
  add('NotYetValid', expected.now < leaf.notBefore ? `valid only from ${leaf.notBefore.toISOString()}` : undefined);
  add('Expired', expected.now >= leaf.notAfter ? `expired at ${leaf.notAfter.toISOString()}` : undefined);
  add('Unsupported', signatureFault(leaf.x509));
  add('WrongUsage', usageFault(leaf.x509));
  for (const name of expected.names ?? []) {
    if (!coversName(leaf.x509, name)) add('NameMissing', `the certificate is not valid for ${JSON.stringify(name)}`);
  }
  if (!hasChain(leaf, intermediates, authorities, expected.now)) {
    add('Untrusted', 'no valid chain leads from the serving certificate to an authority of the bundle');
  }
  return faults;
}

/** Reports whether `issuer` is an authority that signed `certificate`; ignores dates. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Reports whether a private key in PEM belongs to a certificate. */
export function keyMatches(certificate: X509Certificate, privateKeyPem: string): boolean {
  return keyFault(certificate, privateKeyPem) === undefined;
}

function keyFault(certificate: X509Certificate, privateKeyPem: string): string | undefined {
  try {
    return certificate.checkPrivateKey(createPrivateKey(privateKeyPem))
      ? undefined
      : 'the private key does not belong to the certificate';
  } catch {
    // Hides the error of OpenSSL, because it may quote the key.
    return 'the private key is not readable PEM';
  }
}

function usageFault({ keyUsage }: X509Certificate): string | undefined {
  // Node's `keyUsage` is the extended key usage. If it is absent, every use is allowed.
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(serverAuth) || usages.includes(anyUsage)
    ? undefined
    : 'the extended key usage does not include serverAuth';
}

/** Reports whether a certificate covers a DNS name or IP address (IPv6 also in brackets). */
export function coversName(certificate: X509Certificate, name: string): boolean {
  const host = name.replace(/^\[(.*)\]$/, '$1');
  // OpenSSL must ignore the common name, as Go does.
  return isIP(host) === 0
    ? certificate.checkHost(host, { subject: 'never' }) !== undefined
    : certificate.checkIP(host) !== undefined;
}

function hasChain(
  certificate: Certificate,
  intermediates: readonly Certificate[],
  roots: readonly Certificate[],
  now: Date,
  seen = new Set<string>(),
): boolean {
  // Visits each certificate once, because certificates that sign each other form many paths.
  seen.add(certificate.fingerprint);
  if (roots.some(({ fingerprint }) => fingerprint === certificate.fingerprint)) return true;
  const signedBy = (issuer: Certificate): boolean =>
    isIssuedBy(certificate.x509, issuer.x509) && issuer.notBefore <= now && now < issuer.notAfter;
  const continues = (issuer: Certificate): boolean =>
    !seen.has(issuer.fingerprint) && signedBy(issuer) && hasChain(issuer, intermediates, roots, now, seen);
  return roots.some(signedBy) || intermediates.some(continues);
}

const unreadable = 'unreadable';
/** Signature algorithms that Go's crypto/x509 no longer verifies. */
const refusedAlgorithms: Readonly<Record<string, string>> = {
  [unreadable]: 'that cannot be read',
  '1.2.840.113549.1.1.2': 'MD2-RSA',
  '1.2.840.113549.1.1.4': 'MD5-RSA',
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.2.840.10040.4.3': 'DSA-SHA1',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
};

/** Returns why Go rejects a certificate that OpenSSL accepts; undefined if Go accepts it. */
function signatureFault(certificate: X509Certificate): string | undefined {
  const algorithm = signatureAlgorithm(certificate);
  const refused = refusedAlgorithms[algorithm];
  if (refused !== undefined) return `the signature algorithm ${refused} is not accepted by the API server`;
  if (certificate.serialNumber.startsWith('-'))
    return 'the serial number is negative, which the API server does not accept';
  const bits = certificate.publicKey.asymmetricKeyDetails?.modulusLength;
  return bits !== undefined && bits < 1024 ? `an RSA key of ${bits} bits is not accepted by the API server` : undefined;
}

/** Returns the OID of signatureAlgorithm, a Certificate's second element (RFC 5280, 4.1). */
function signatureAlgorithm(certificate: X509Certificate): string {
  try {
    const [, algorithm] = children(forge.asn1.fromDer(certificate.raw.toString('binary')));
    const [identifier] = algorithm === undefined ? [] : children(algorithm);
    return identifier === undefined || typeof identifier.value !== 'string'
      ? ''
      : forge.asn1.derToOid(forge.util.createBuffer(identifier.value));
  } catch {
    // The structure is nested too deeply for forge.
    return unreadable;
  }
}

function children(structure: forge.asn1.Asn1): readonly forge.asn1.Asn1[] {
  return typeof structure.value === 'string' ? [] : structure.value;
}
