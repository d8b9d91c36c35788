import type { Rotation } from '../certs/rotation.ts';
import type { ServingPair } from '../certs/verify-chain.ts';

/** What a pass of the rotation wants written. Without `serving` the serving Secret stays as it is. */
export interface CertificateMaterial extends Pick<Rotation, 'stored' | 'caBundlePem'> {
  readonly serving?: ServingPair;
}
