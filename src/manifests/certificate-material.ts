/** A serving certificate as PEM texts. */
export interface ServingMaterial {
  /** The leaf, then intermediates if any. */
  readonly certificatePem: string;
  readonly keyPem: string;
  /** What the leaf verifies against. */
  readonly caPem: string;
}

/** The certificates of one webhook, as the rotation has them now. */
export interface CertificateMaterial {
  /** Every authority that a client has to trust, one PEM after the other: the clientConfig's caBundle. */
  readonly caBundlePem: string;
  readonly serving: ServingMaterial;
  /** The rotation's own data, by key of the Secret that holds it; texts, not base64. */
  readonly stored: Readonly<Record<string, string>>;
}
