import { X509Certificate } from 'node:crypto';

/** The properties of a certificate that the operator uses. */
export type CertificateFacts = Readonly<ReturnType<typeof factsOf>>;

/** A cache: a pass reads the same certificates repeatedly, and parsing takes 0.2 ms each. */
const parsed = new Map<string, CertificateFacts>();
const maximumParsed = 64;

/** Reads the first certificate of a PEM text. @throws Error if the text has no X.509 certificate */
export function readCertificate(pem: string): CertificateFacts {
  const facts = parsed.get(pem) ?? factsOf(new X509Certificate(pem));
  parsed.delete(pem);
  parsed.set(pem, facts);
  const [oldest = pem] = parsed.keys();
  if (parsed.size > maximumParsed) parsed.delete(oldest);
  return facts;
}

/** Returns the first 8 hex digits of a certificate's fingerprint, for messages. */
export function shortName(pem: string): string {
  return readCertificate(pem).fingerprint.slice(0, 8);
}

function factsOf(x509: X509Certificate) {
  return {
    x509,
    /** The SHA-256 of the DER encoding, as 64 lower-case hex digits. */
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBefore: new Date(x509.validFrom),
    notAfter: new Date(x509.validTo),
    /** The DNS names among the subject alternative names. */
    dnsNames: (x509.subjectAltName ?? '')
      .split(', ')
      .flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : [])),
  };
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/** One certificate of a bundle. */
export interface BundleEntry extends CertificateFacts {
  /** PEM with LF line ends and a final newline. */
  readonly pem: string;
}

/**
 * Reads every certificate of a PEM text once, in order. Skips invalid blocks: the API server does
 * not validate a caBundle, and one damaged block must not hide the valid ones.
 */
export function parseBundle(text: string): BundleEntry[] {
  const entries = new Map<string, BundleEntry>();
  for (const found of blocks(text)) {
    const pem = `${found.replaceAll('\r\n', '\n')}\n`;
    const facts = readable(pem);
    if (facts !== undefined && !entries.has(facts.fingerprint)) entries.set(facts.fingerprint, { ...facts, pem });
  }
  return [...entries.values()];
}

/** Yields each part of a text from a BEGIN CERTIFICATE line to the next END CERTIFICATE line. */
function* blocks(text: string): Generator<string> {
  let from = text.indexOf(begin);
  while (from >= 0) {
    const last = text.indexOf(end, from + begin.length);
    if (last < 0) return;
    yield text.slice(from, last + end.length);
    from = text.indexOf(begin, last + end.length);
  }
}

/** Joins PEM texts, with each certificate once, and with the newlines that clients require. */
export function joinBundle(pems: readonly string[]): string {
  return parseBundle(pems.join('\n'))
    .map(({ pem }) => pem)
    .join('');
}

/** Returns the fingerprints in a bundle, to compare the desired and the live bundle. */
export function bundleFingerprints(text: string): Set<string> {
  return new Set(parseBundle(text).map(({ fingerprint }) => fingerprint));
}

function readable(pem: string): CertificateFacts | undefined {
  try {
    return readCertificate(pem);
  } catch {
    return undefined;
  }
}
