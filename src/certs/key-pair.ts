import { generateKeyPair as generate } from 'node:crypto';
import { promisify } from 'node:util';

/** An RSA key pair: PKCS #8 and SubjectPublicKeyInfo, both PEM with LF line ends. */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** A certificate with its private key, both PEM: an authority or a serving certificate. */
export interface CertifiedKey {
  /** The certificate, followed by intermediates if there are any. */
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Generates an RSA key pair of `bits` bits. Callers provide it, because results are random. */
export type GenerateKeyPair = (bits: number) => Promise<KeyPair>;

const generateAsync = promisify(generate);

/** Uses node:crypto's thread pool: node-forge would block the event loop for seconds. */
export const generateRsaKeyPair: GenerateKeyPair = async (bits) => {
  const { privateKey, publicKey } = await generateAsync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
};
