import { ApiError } from '../kube/api-error.ts';

/** Advice by HTTP status. 0: no answer from the API server. 401: it refuses the credentials. */
const adviceByStatus: Readonly<Record<number, string>> = {
  0: 'check that the cluster is running, or name another cluster with --context',
  401: 'log in again, or name other credentials with --kubeconfig',
};

const untrusted =
  'the kubeconfig does not trust the authority of this server: set certificate-authority of its cluster to the file with this authority, or get a new kubeconfig. A proxy that decrypts TLS has the same effect';
const clock = 'compare the clock of this machine';

/** Advice by error code of OpenSSL (X509_V_ERR_*) and Node.js (`tls`). */
const adviceByCode: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  INVALID_CA: untrusted,
  // An authority with the same name and another key.
  CERT_SIGNATURE_FAILURE: 'the cluster was probably created again: get a new kubeconfig',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'in the kubeconfig, set server to a host that the certificate names, or set tls-server-name to that host',
  CERT_HAS_EXPIRED: `renew the certificate of the API server and its authority, or ${clock}`,
  CERT_NOT_YET_VALID: `wait until the certificate of the API server is valid, or ${clock}`,
  CERT_REVOKED: 'renew the certificate of the API server',
  INVALID_PURPOSE: 'renew the certificate of the API server with the usage server auth',
  ENOTFOUND: 'no such host: correct server in the kubeconfig, or name another cluster with --context',
};

/** Advice by what OpenSSL says about other failures of a handshake; the code is often EPROTO. */
const adviceByText: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long/,
    'this port does not speak TLS: correct the scheme, host and port of server in the kubeconfig',
  ],
  [
    / alert (?:.*certificate|unknown ca|access denied)/,
    'the API server refuses the client certificate of the kubeconfig: renew it, or log in again',
  ],
];

/** Returns what to do about a failed request to the API server; an empty text if it is not known. */
export function clusterAdvice(error: unknown): string {
  if (!(error instanceof ApiError)) return '';
  const { code = '', message = '' } = (error.cause ?? {}) as Partial<NodeJS.ErrnoException>;
  const [, byText] = adviceByText.find(([said]) => said.test(message)) ?? [];
  return adviceByCode[code] ?? byText ?? adviceByStatus[error.code] ?? '';
}
