import { readFileSync, writeFileSync } from 'node:fs';

/** How to reach an API server whose certificate is checked against an authority. */
export interface ApiServerEndpoint {
  url: string;
  authorityFile: string;
}

export type Credentials = { certificate: string; key: string } | { token: string };

/** Writes a kubeconfig with everything embedded, readable by its owner only. Files are JSON, which is YAML too. */
export function writeKubeconfig(
  file: string,
  endpoint: ApiServerEndpoint,
  user: string,
  credentials: Credentials,
): void {
  const embed = (path: string) => readFileSync(path).toString('base64');
  const secrets =
    'token' in credentials
      ? { token: credentials.token }
      : { 'client-certificate-data': embed(credentials.certificate), 'client-key-data': embed(credentials.key) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'embedded',
        cluster: { server: endpoint.url, 'certificate-authority-data': embed(endpoint.authorityFile) },
      },
    ],
    users: [{ name: user, user: secrets }],
    contexts: [{ name: 'embedded', context: { cluster: 'embedded', user } }],
    'current-context': 'embedded',
  };
  writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
}
