import type { CertificateNames } from '../certificate-names.ts';
import type { CertificatePolicy } from '../certificate-policy.ts';
import type { CertificateSource } from './given-certificates.ts';
import type { GenerateKeyPair } from '../key-pair.ts';
import type { RandomBytes } from '../random-source.ts';
import type { RenewalRequest } from './rotation-request.ts';
import type { ObservedCertificates } from './recover-rotation.ts';

/** What a pass of the state machine looks at. */
export interface RotationInput extends ObservedCertificates {
  readonly policy: CertificatePolicy;
  readonly names: CertificateNames;
  /** Absent: the rotation issues what it needs. */
  readonly source?: CertificateSource;
  readonly now: Date;
  readonly random: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
  /** The latest renewal that a person asked for, given in every pass; it starts the same overlapped rotation as a renewal by time, once. */
  readonly request?: RenewalRequest;
}
