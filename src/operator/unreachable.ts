/** What the API server says (Go's net, crypto/tls and the webhook client of k8s.io/apiserver), and what that asks for. */
const causes: readonly (readonly [says: RegExp, advice: string])[] = [
  [
    /x509|tls: |certificate/,
    'what answers there does not have the certificate that the caBundle trusts: look at the condition CertificateReady, at what the Service or url leads to, and for a proxy between that ends TLS',
  ],
  [
    /connection refused/,
    'nobody listens there: look whether the pods of the operator are ready and whether the port is theirs (Service targetPort, --webhook-port)',
  ],
  [
    /deadline exceeded|timeout|timed out/i,
    'packets are lost on the way: let the control plane reach the port of the webhook (firewall rules of private clusters, NetworkPolicies): 15017 unless told',
  ],
  [
    /no such host|server misbehaving/,
    'the name is not known where the API server runs: correct the Service or the url',
  ],
  [
    /no route to host|network is unreachable/,
    'the address cannot be reached from where the API server runs: use a url or a network that both have',
  ],
  [
    /service "[^"]*" not found|no endpoints available|no service port|could not find the requested/,
    'the Service leads to no ready pod that serves this: look at its selector and at the readiness of the pods of the operator',
  ],
  [
    /currently unable to handle the request/,
    'the replicas that answer do not have this configuration (yet): look at their logs',
  ],
];

/**
 * One sentence about a webhook that the API server could not call, from its error: its own words from where they say what happened, and what to
 * do. The same failure always gives the same sentence: ports that change with each connection are left out.
 */
export function unreachable(error: string): string {
  const said = (/failed to call webhook: (.*)$/s.exec(error)?.[1] ?? error)
    .replace(/\?timeout=[^"\s]*/, '')
    .replace(/\b(read|write) tcp \S+->/, '$1 tcp ')
    .trim();
  const advice = causes.find(([says]) => says.test(said))?.[1];
  return `the API server does not reach the webhook, so it is not installed: ${said}${advice === undefined ? '' : `; ${advice}`}`;
}
