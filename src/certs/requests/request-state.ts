import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import type { CertifiedKey } from '../key-pair.ts';
import { joinBundle } from '../read-certificate.ts';
import type { SecretText } from '../rotation/rotation-secret.ts';
import { time } from '../rotation/rotation-state.ts';

/** The terms of a request. If the terms change, a new certificate is requested. */
const requestTerms = z.object({
  /** `spec.signerName` of the CertificateSigningRequest (certificates.k8s.io/v1). */
  signerName: z.string(),
  /** The requested lifetime in seconds, which signers may ignore. If absent, the signer decides. */
  expirationSeconds: z.int().exactOptional(),
  keySize: z.int(),
  /** DNS names and IP addresses. */
  names: z.array(z.string()),
});
export type RequestTerms = Readonly<z.output<typeof requestTerms>>;

const issued = z.object({ terms: requestTerms, takenAt: time });
const pending = z.object({
  terms: requestTerms,
  /** The number of earlier requests that yielded no certificate. */
  attempt: z.int().min(0),
  since: time,
  /** The metadata.uid of the observed request. A request that is missing later was deleted. */
  uid: z.string().exactOptional(),
});

/** A certificate that a signer has issued. */
export type IssuedCertificate = CertifiedKey & Readonly<z.output<typeof issued>>;

/** A request that has yielded no certificate yet. */
export type PendingRequest = Readonly<z.output<typeof pending>> & { readonly privateKeyPem: string };

/** The state that must survive a change of the leader. It is stored in one Secret. */
export interface RequestState {
  readonly issued?: IssuedCertificate;
  readonly pending?: PendingRequest;
}

const record = z.object({ version: z.literal(1), issued: issued.exactOptional(), pending: pending.exactOptional() });

/** Encodes a state as Secret data: `tls.*` (issued), `pending.key`, and `request.json`. */
export function writeRequestSecret({ issued, pending }: RequestState): SecretText {
  const written = record.encode({
    version: 1,
    ...(issued && { issued: { terms: issued.terms, takenAt: issued.takenAt } }),
    ...(pending && { pending: recordOf(pending) }),
  });
  return {
    'request.json': JSON.stringify(written),
    ...(issued && { 'tls.crt': issued.certificatePem, 'tls.key': issued.privateKeyPem }),
    ...(pending && { 'pending.key': pending.privateKeyPem }),
  };
}

function recordOf({ terms, attempt, since, uid }: PendingRequest): z.output<typeof pending> {
  return { terms, attempt, since, ...(uid !== undefined && { uid }) };
}

/** Reads the Secret's data. Omits damaged parts, so that they are requested again. */
export function readRequestSecret(text: SecretText): RequestState {
  const read = parsed(text['request.json']);
  const { 'tls.crt': certificatePem = '', 'tls.key': privateKeyPem = '', 'pending.key': pendingKey = '' } = text;
  const pair = { certificatePem: joinBundle([certificatePem]), privateKeyPem };
  const hasPair = pair.certificatePem !== '' && isKey(privateKeyPem);
  return {
    ...(read?.issued && hasPair && { issued: { ...read.issued, ...pair } }),
    ...(read?.pending && isKey(pendingKey) && { pending: { ...read.pending, privateKeyPem: pendingKey } }),
  };
}

function parsed(json: string | undefined): z.output<typeof record> | undefined {
  try {
    return record.safeParse(JSON.parse(json ?? '')).data;
  } catch {
    return undefined;
  }
}

function isKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    // Signing with a much longer key would take seconds.
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) <= 4096;
  } catch {
    return false;
  }
}
