import { commandLine } from '../../api/command-line.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig, InjectorConfigStatus } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import { parseRotateRequest, rotateAnnotation, type RotateTarget } from '../../api/injector-config/rotate-request.ts';
import type { Rotation } from '../../certs/rotation/rotation.ts';
import { catchConfigurationError } from '../controller/parsed-configs.ts';
import type { RenewalRequest } from '../../certs/rotation/rotation-request.ts';

export type RotateAnswer = NonNullable<NonNullable<InjectorConfigStatus['certificate']>['rotateRequest']>;

/** The longest nonce that status accepts, in characters. */
const longestNonce = 63;

/** The request in the rotate annotation of an InjectorConfig, or the answer to the request. */
export interface RequestedRenewal {
  readonly request?: RenewalRequest;
  /** The answer to a request that needs no rotation, because it is refused or already done. */
  readonly answer?: RotateAnswer;
}

/** Reads the rotate annotation. Ignores a request that is Done or Refused in status. */
export function requestedRenewal(
  object: KubernetesObject,
  { metadata, spec, status }: InjectorConfig,
  namespace: string,
): RequestedRenewal {
  const value = object.metadata.annotations?.[rotateAnnotation];
  if (value === undefined) return {};
  const request = catchConfigurationError(() => parseRotateRequest(value));
  if (request instanceof ConfigurationError)
    return { answer: { nonce: value.slice(0, longestNonce), state: 'Refused', message: request.message } };
  const answered = status?.certificate?.rotateRequest;
  if (answered?.nonce === request.nonce && answered.state !== 'Accepted') return { answer: answered };
  const refusal = rotationRefusal(metadata.name, spec.certificate, request.target, namespace);
  if (refusal === undefined) return { request };
  const message = `metadata.annotations[${rotateAnnotation}]: ${refusal}`;
  return { answer: { nonce: request.nonce, state: 'Refused', message } };
}

/**
 * Returns why the operator refuses a rotation, and what to do instead; undefined if it rotates.
 * @param name of the InjectorConfig. @param namespace of the operator
 */
export function rotationRefusal(
  name: string,
  certificate: CertificateSource,
  target: RotateTarget,
  namespace: string,
): string | undefined {
  if (certificate.provider === 'SelfSigned' || target === 'authority-force') return undefined;
  return `spec.certificate.provider is ${certificate.provider}, so the operator issues no certificate; ${renewalAdvice(name, certificate, namespace)}`;
}

/** The fields that say who issues a certificate. */
type CertificateSource = Pick<InjectorConfig['spec']['certificate'], 'provider' | 'certificateRef' | 'secretRef'>;

/** Returns how to renew a certificate that the operator does not issue. */
function renewalAdvice(
  name: string,
  { provider, certificateRef, secretRef }: CertificateSource,
  namespace: string,
): string {
  const { certificate, requestSecret } = objectNames(name);
  if (provider === 'CertificateSigningRequest')
    return `to request another certificate: ${commandLine`kubectl delete secret -n ${namespace} ${requestSecret}`}`;
  if (provider === 'CertManager')
    return `to renew it: ${commandLine`cmctl renew -n ${namespace} ${certificateRef?.name ?? certificate}`}`;
  return `replace tls.crt and tls.key in Secret ${namespace}/${secretRef?.name ?? ''}`;
}

/** Returns the answer for status after the rotation has run. */
export function rotateAnswer(
  { answer }: RequestedRenewal,
  { request }: Pick<Rotation, 'request'>,
): RotateAnswer | undefined {
  return answer ?? (request && { nonce: request.nonce, state: request.state });
}
