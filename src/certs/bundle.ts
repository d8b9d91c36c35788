import { readCertificate, type CertificateFacts } from './read-certificate.ts';

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

/** One certificate of a bundle. */
export interface BundleEntry extends CertificateFacts {
  /** PEM with LF line ends and a final newline. */
  readonly pem: string;
}

/**
 * Reads every certificate of a PEM text, each once, in order. Blocks that are no certificate are left out, since a caBundle is not
 * validated by the API server and one damaged block must not hide the good ones.
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

/** The parts of a text from a line that begins a certificate to the next that ends one. */
function* blocks(text: string): Generator<string> {
  let from = text.indexOf(begin);
  while (from >= 0) {
    const last = text.indexOf(end, from + begin.length);
    if (last < 0) return;
    yield text.slice(from, last + end.length);
    from = text.indexOf(begin, last + end.length);
  }
}

/** Joins PEM texts to one bundle: each certificate once, in order, each on lines of its own (two PEMs joined without a newline break every call). */
export function joinBundle(pems: readonly string[]): string {
  return parseBundle(pems.join('\n'))
    .map(({ pem }) => pem)
    .join('');
}

/** The fingerprints in a bundle, for comparing what is published with what was read back. */
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
