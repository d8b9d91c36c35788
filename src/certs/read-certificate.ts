import { X509Certificate } from 'node:crypto';

/** A parsed certificate. Parsing takes about 0.1 ms, so parse a text once, where it is read. */
export interface Certificate {
  readonly x509: X509Certificate;
  /** PEM with LF line ends and a final newline. */
  readonly pem: string;
  /** The SHA-256 of the DER encoding, as 64 lower-case hex digits. */
  readonly fingerprint: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The DNS names among the subject alternative names. */
  readonly dnsNames: readonly string[];
}

/** A certificate, followed by its intermediates if there are any. */
export type CertificateChain = readonly [Certificate, ...Certificate[]];

/** Reads a certificate and its intermediates. @throws Error if the text has no certificate */
export function readChain(pem: string): CertificateChain {
  const [first, ...others] = parseBundle(pem);
  if (first === undefined) throw new Error('the text contains no certificate in PEM');
  return [first, ...others];
}

/** Returns the first 8 hex digits of a certificate's fingerprint, for messages. */
export function shortName({ fingerprint }: Certificate): string {
  return fingerprint.slice(0, 8);
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/**
 * Reads every certificate of a PEM text once, in order. Skips invalid blocks: the API server does
 * not validate a caBundle, and one damaged block must not hide the valid ones.
 */
export function parseBundle(text: string): Certificate[] {
  return distinct([...blocks(text)].flatMap(parse));
}

/** Reads bundles. Reads equal texts once, since webhooks of one InjectorConfig trust the same. */
export function parseBundles(texts: readonly string[]): Certificate[][] {
  const parsed = new Map([...new Set(texts)].map((text) => [text, parseBundle(text)]));
  return texts.map((text) => parsed.get(text) ?? []);
}

/** Returns each certificate once, in order. */
export function distinct(certificates: readonly Certificate[]): Certificate[] {
  const found = new Map<string, Certificate>();
  for (const each of certificates) if (!found.has(each.fingerprint)) found.set(each.fingerprint, each);
  return [...found.values()];
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

/** Returns the certificate in a block; nothing if the block is invalid. */
function parse(block: string): Certificate[] {
  const pem = `${block.replaceAll('\r\n', '\n')}\n`;
  try {
    const x509 = new X509Certificate(pem);
    const fingerprint = x509.fingerprint256.replaceAll(':', '').toLowerCase();
    const [notBefore, notAfter] = [new Date(x509.validFrom), new Date(x509.validTo)];
    const names = (x509.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('DNS:'));
    return [{ x509, pem, fingerprint, notBefore, notAfter, dnsNames: names.map((name) => name.slice('DNS:'.length)) }];
  } catch {
    return [];
  }
}

/** Returns the PEM text of certificates. */
export function pemOf(certificates: readonly Certificate[]): string {
  return certificates.map(({ pem }) => pem).join('');
}

/** Joins PEM texts, with each certificate once, and with the newlines that clients require. */
export function joinBundle(pems: readonly string[]): string {
  return pemOf(parseBundle(pems.join('\n')));
}

/** Returns the fingerprints in a bundle, to compare the desired and the live bundle. */
export function bundleFingerprints(text: string): Set<string> {
  return new Set(parseBundle(text).map(({ fingerprint }) => fingerprint));
}
