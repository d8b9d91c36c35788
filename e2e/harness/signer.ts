import { setTimeout as sleep } from 'node:timers/promises';
import forge from 'node-forge';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import type { CompanyAuthority } from './company-authority.ts';
import { repeat } from './repeat.ts';
import type { ScenarioContext } from './scenario-context.ts';

export interface SigningRequest extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { name: string };
  spec: { request: string; signerName: string; usages: string[]; expirationSeconds?: number };
  status?: { certificate?: string; conditions?: { type: string }[] };
}

const kind = resourceKind('certificates.k8s.io/v1', 'CertificateSigningRequest');

/** How the signer treats the next requests. */
type Behavior = 'Sign' | 'Ignore' | 'Deny' | 'Fail';

/** Approves and signs CertificateSigningRequests of one signerName until the scenario ends. */
export class Signer {
  readonly signerName: string;
  authority: CompanyAuthority;
  behavior: Behavior = 'Sign';
  /** The lifetime of a certificate, in milliseconds. */
  life = 600_000;
  /** The delay between the approval and the certificate, in milliseconds. */
  delay = 0;
  readonly #context: ScenarioContext;

  private constructor(context: ScenarioContext, signerName: string, authority: CompanyAuthority) {
    this.#context = context;
    this.signerName = signerName;
    this.authority = authority;
  }

  static start(context: ScenarioContext, signerName: string, authority: CompanyAuthority): Signer {
    const signer = new Signer(context, signerName, authority);
    const stop = repeat(async (pause) => {
      for (const each of await signer.requests().catch(() => [])) await signer.#treat(each).catch(() => undefined);
      await pause(100);
    });
    context.atEnd(stop);
    return signer;
  }

  /** Returns the requests for this signer, oldest first. */
  async requests(): Promise<SigningRequest[]> {
    const fieldSelector = `spec.signerName=${this.signerName}`;
    const { items } = await this.#context.client.listAll<SigningRequest>(kind, { fieldSelector });
    const age = ({ metadata }: SigningRequest) => Date.parse(metadata.creationTimestamp ?? '');
    return items.sort((one, other) => age(one) - age(other));
  }

  /** Returns the requests that have neither a certificate nor a verdict. */
  async open(): Promise<SigningRequest[]> {
    return (await this.requests()).filter(({ status }) => status?.certificate === undefined && !hasVerdict(status));
  }

  async #treat(request: SigningRequest): Promise<unknown> {
    const { behavior } = this;
    const { status } = request;
    if (behavior === 'Ignore' || status?.certificate !== undefined || (status?.conditions ?? []).some(isEnd))
      return undefined;
    if (behavior === 'Deny') return this.#verdict(request, 'approval', 'Denied', 'e2e denies it');
    const approved = hasVerdict(status)
      ? request
      : await this.#verdict(request, 'approval', 'Approved', 'e2e approves it');
    if (behavior === 'Fail') return this.#verdict(approved, 'status', 'Failed', 'e2e cannot sign it');
    await sleep(this.delay);
    const { publicKeyPem, subject, names } = readRequest(Buffer.from(request.spec.request, 'base64').toString());
    const certificate = this.authority.sign(publicKeyPem, subject, names, this.life);
    const issued = { ...approved.status, certificate: Buffer.from(certificate).toString('base64') };
    return this.#put({ ...approved, status: issued }, 'status');
  }

  #verdict(
    request: SigningRequest,
    subresource: 'approval' | 'status',
    type: 'Approved' | 'Denied' | 'Failed',
    message: string,
  ): Promise<SigningRequest> {
    const verdict = { type, status: 'True', reason: 'E2e', message };
    const conditions = [...(request.status?.conditions ?? []), verdict];
    return this.#put({ ...request, status: { ...request.status, conditions } }, subresource);
  }

  async #put(request: SigningRequest, subresource: string): Promise<SigningRequest> {
    const path = resourcePath(kind, { name: request.metadata.name, subresource });
    return (await this.#context.client.request('PUT', path, { body: JSON.stringify(request) })) as SigningRequest;
  }
}

function hasVerdict(status: SigningRequest['status']): boolean {
  return (status?.conditions ?? []).length > 0;
}

function isEnd({ type }: { type: string }): boolean {
  return type === 'Denied' || type === 'Failed';
}

interface RequestedExtension {
  name: string;
  altNames?: { type: number; value: string; ip?: string }[];
}

/** Parses a PEM PKCS #10 request and verifies its signature. */
function readRequest(pem: string) {
  const request = forge.pki.certificationRequestFromPem(pem);
  if (!request.verify()) throw new Error('the signature of a CertificateSigningRequest is invalid');
  const { extensions = [] } = (request.getAttribute({ name: 'extensionRequest' }) ?? {}) as {
    extensions?: RequestedExtension[];
  };
  const { altNames = [] } = extensions.find(({ name }) => name === 'subjectAltName') ?? {};
  const commonName = request.subject.getField('CN') as { value?: string } | null;
  return {
    publicKeyPem: forge.pki.publicKeyToPem(request.publicKey as forge.pki.rsa.PublicKey).replaceAll('\r\n', '\n'),
    subject: commonName?.value ?? 'none',
    names: altNames.map(({ value, ip }) => ip ?? value),
  };
}
