import { randomBytes } from 'node:crypto';
import { generateRsaKeyPair } from '../../../src/certs/key-pair.ts';
import { randomSerialNumber } from '../../../src/certs/random-source.ts';
import { issueServingCertificate } from '../../../src/certs/serving-certificate.ts';
import { signCertificate, type Issuer } from '../../../src/certs/sign-certificate.ts';

const day = 86_400_000;

/** The three texts of a Secret with a certificate, by their keys; all PEM. */
export interface PairText {
  'tls.crt': string;
  'tls.key': string;
  'ca.crt': string;
}

interface IssueOptions {
  service: string;
  namespace: string;
  /** Milliseconds from `now`. */
  duration?: number;
  now?: Date;
}

/** An authority as companies have them: a root that signed an intermediate, which signs certificates. */
export class CompanyAuthority {
  readonly root: string;
  readonly #intermediate: Issuer;

  private constructor(root: string, intermediate: Issuer) {
    this.root = root;
    this.#intermediate = intermediate;
  }

  static async create(name: string): Promise<CompanyAuthority> {
    const rootKeys = await generateRsaKeyPair(2048);
    const root = authorityCertificate(`${name} root`, rootKeys.publicKeyPem, rootKeys, 1);
    const signer = { certificatePem: root, privateKeyPem: rootKeys.privateKeyPem };
    const keys = await generateRsaKeyPair(2048);
    const certificatePem = authorityCertificate(`${name} intermediate`, keys.publicKeyPem, signer, 0);
    return new CompanyAuthority(root, { certificatePem, privateKeyPem: keys.privateKeyPem });
  }

  /** A certificate for a Service, followed by the intermediate, as such a Secret holds it. */
  async issue({ service, namespace, duration = day, now = new Date() }: IssueOptions): Promise<PairText> {
    const keys = await generateRsaKeyPair(2048);
    const options = { now, duration, random: randomBytes };
    const leaf = issueServingCertificate(this.#intermediate, { service, namespace }, keys, options);
    return {
      'tls.crt': leaf.certificatePem + this.#intermediate.certificatePem,
      'tls.key': leaf.privateKeyPem,
      'ca.crt': this.root,
    };
  }
}

/** @param below how many authorities may stand between it and a certificate */
function authorityCertificate(
  commonName: string,
  publicKeyPem: string,
  signer: Parameters<typeof signCertificate>[1],
  below: number,
): string {
  return signCertificate(
    {
      serialNumber: randomSerialNumber(randomBytes),
      subject: { organizationName: 'e2e', commonName },
      publicKeyPem,
      // Certificates that have expired must be possible.
      notBefore: new Date(Date.now() - 10 * day),
      notAfter: new Date(Date.now() + 10 * day),
      extensions: [
        { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: below },
        { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
      ],
    },
    signer,
  );
}
