import type { Rotation } from '../certs/rotation.ts';

/** What a pass of the rotation wants written. Without `serving` the serving Secret stays as it is. */
export type CertificateMaterial = Pick<Rotation, 'stored' | 'serving' | 'caBundlePem'>;
