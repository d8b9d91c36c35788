import { ApiError } from '../kube/api-error.ts';

/** Advice by HTTP status. 0: no answer from the API server. 401: it refuses the credentials. */
const adviceByStatus: Readonly<Record<number, string>> = {
  0: 'check that the cluster is running, or name another cluster with --context',
  401: 'log in again, or name other credentials with --kubeconfig',
};

/** Advice by the error code (of OpenSSL or Node.js) and message of a failed connection. */
const adviceByCause: readonly (readonly [RegExp, string])[] = [
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|CERT_UNTRUSTED|INVALID_CA/,
    'the kubeconfig does not trust the authority of this server: set certificate-authority of its cluster to the file with this authority, or get a new kubeconfig. A proxy that decrypts TLS has the same effect',
  ],
  [/CERT_SIGNATURE_FAILURE/, 'the cluster was probably created again: get a new kubeconfig'],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    'in the kubeconfig, set server to a host that the certificate names, or set tls-server-name to that host',
  ],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    'renew the certificate of the API server and its authority, or correct the clock of this machine',
  ],
  [/CERT_REVOKED|INVALID_PURPOSE/, 'renew the certificate of the API server, with the usage server auth'],
  [
    /wrong version number|packet length too long/,
    'this port does not speak TLS: correct the scheme, host and port of server in the kubeconfig',
  ],
  [
    / alert (?:.*certificate|unknown ca|access denied)/,
    'the API server refuses the client certificate of the kubeconfig: renew it, or log in again',
  ],
  [/ENOTFOUND/, 'no such host: correct server in the kubeconfig, or name another cluster with --context'],
];

/** Returns what to do about a failed request to the API server; '' if it is not known. */
export function clusterAdvice(error: unknown): string {
  if (!(error instanceof ApiError)) return '';
  const { code = '', message = '' } = (error.cause ?? {}) as Partial<NodeJS.ErrnoException>;
  const [, byCause] = adviceByCause.find(([said]) => said.test(`${code} ${message}`)) ?? [];
  return byCause ?? adviceByStatus[error.code] ?? '';
}
