import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig, InjectorConfigStatus } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import { parseRotateRequest, rotateAnnotation } from '../../api/injector-config/rotate-request.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import { readOrRefuse } from '../controller/parsed-configs.ts';
import type { RenewalRequest } from '../../certs/rotation/rotation-request.ts';

/** What status says of the latest request. */
export type RotateAnswer = NonNullable<NonNullable<InjectorConfigStatus['certificate']>['rotateRequest']>;

/** The longest nonce that status holds. */
const longestNonce = 63;

/** What the annotation of an InjectorConfig asks for, and what is known of it. */
export interface AskedRenewal {
  /** To be carried out, or still to be finished. */
  readonly request?: RenewalRequest;
  /** The answer, where it is known before the rotation is asked: refused now, or answered for good in an earlier pass. */
  readonly answer?: RotateAnswer;
}

/** Reads the rotate annotation. A request that status calls done or refused is not carried out again, even if the rotation's own record was lost. */
export function askedRenewal(
  object: KubernetesObject,
  { metadata, spec, status }: InjectorConfig,
  namespace: string,
): AskedRenewal {
  const value = object.metadata.annotations?.[rotateAnnotation];
  if (value === undefined) return {};
  const request = readOrRefuse(() => parseRotateRequest(value));
  if (request instanceof ConfigurationError)
    return { answer: { nonce: value.slice(0, longestNonce), state: 'Refused', message: request.message } };
  const answered = status?.certificate?.rotateRequest;
  if (answered?.nonce === request.nonce && answered.state !== 'Accepted') return { answer: answered };
  const { provider } = spec.certificate;
  if (provider === 'SelfSigned' || request.target === 'authority-force') return { request };
  const message = `metadata.annotations[${rotateAnnotation}]: spec.certificate.provider is ${provider}, so nothing is issued here; ${renewalAdvice(metadata.name, spec.certificate, namespace)}`;
  return { answer: { nonce: request.nonce, state: 'Refused', message } };
}

/** How to renew what others issue. */
function renewalAdvice(
  name: string,
  { provider, certificateRef }: InjectorConfig['spec']['certificate'],
  namespace: string,
): string {
  const { certificate, requestSecret } = objectNames(name);
  if (provider === 'CertificateSigningRequest')
    return `to have another one asked for: kubectl delete secret -n ${namespace} ${requestSecret}`;
  if (provider === 'CertManager')
    return `to have it renewed: cmctl renew -n ${namespace} ${certificateRef?.name ?? certificate}`;
  return 'replace the certificate where it comes from';
}

/** What status is to say once the rotation was asked. */
export function rotateAnswer(
  { answer }: AskedRenewal,
  { request }: Pick<Rotation, 'request'>,
): RotateAnswer | undefined {
  return answer ?? (request && { nonce: request.nonce, state: request.state });
}
