import { X509Certificate, createPrivateKey } from 'node:crypto';
import { ConfigurationError } from '../../api/errors.ts';
import type { ServingPairs } from '../../server/http/tls-server.ts';
import type { CertifiedKey } from '../../certs/key-pair.ts';
import { readFile } from '../files.ts';

/** A valid pair and its expiry. */
export interface LoadedPair extends CertifiedKey {
  readonly notAfter: Date;
}

export function readPair(certificateFile: string, keyFile: string): CertifiedKey {
  return { certificatePem: readFile('--tls-cert', certificateFile), privateKeyPem: readFile('--tls-key', keyFile) };
}

/** Checks that certificate and key match. @throws ConfigurationError that quotes no key material */
export function loadPair({ certificatePem, privateKeyPem }: CertifiedKey): LoadedPair {
  const leaf = parse('--tls-cert', 'a certificate', () => new X509Certificate(certificatePem));
  const key = parse('--tls-key', 'an unencrypted private key', () => createPrivateKey(privateKeyPem));
  if (!leaf.checkPrivateKey(key)) {
    const message =
      '--tls-key: the private key does not belong to the certificate of --tls-cert; name the two files of one pair';
    throw new ConfigurationError('--tls-key', message);
  }
  return { certificatePem, privateKeyPem, notAfter: new Date(leaf.validTo) };
}

/** Serves one pair for any server name. */
export function onePair(current: () => LoadedPair | undefined): ServingPairs {
  return {
    forServerName: () => undefined,
    defaultPair: current,
    *expiries() {
      const pair = current();
      if (pair !== undefined) yield ['serve', pair.notAfter];
    },
  };
}

function parse<Value>(flag: string, what: string, read: () => Value): Value {
  try {
    return read();
  } catch {
    // Omit OpenSSL's message, which could quote the key.
    const message = `${flag}: the file does not contain ${what} in PEM; \`injector certs create\` creates both files`;
    throw new ConfigurationError(flag, message);
  }
}
