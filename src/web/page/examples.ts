import envoy from '../../../catalog/envoy.yaml';
import logShipper from '../../../catalog/log-shipper.yaml';
import oauth2Proxy from '../../../catalog/oauth2-proxy.yaml';
import vaultAgent from '../../../catalog/vault-agent.yaml';
import hello from '../../../examples/hello.yaml';
import istio from '../../../examples/istio-1.1-release.yaml';
import logSidecar from '../../../examples/kubesphere-logsidecar.yaml';
import revision from '../../../examples/revision-1-24.yaml';
import tag from '../../../examples/revision-tag-canary.yaml';
import sleep from '../../../examples/sleep.yaml';
import type { Texts } from '../engine/evaluate.ts';

/** Texts to begin with. */
interface Example extends Texts {
  readonly title: string;
  /** The name in links: `#example=NAME`; that of a file, if it is one. */
  readonly name: string;
}

/** Removes the comments at the begin, which are about files. */
const body = (text: string): string => text.replace(/^(?:#.*\n)+/, '');
const sleepWith = (label: string): string => body(sleep).replace('    istio-injection: enabled', `    ${label}`);
const sleepLabelled = (label: string): string =>
  body(sleep).replace('        app: sleep\n', `        app: sleep\n        ${label}: 'true'\n`);

const catalogued = (name: string, title: string, config: string, label: string): Example => {
  return { name, title: `Catalog: ${title}`, config: body(config), pod: sleepLabelled(label) };
};

export const examples: readonly [Example, ...Example[]] = [
  { name: 'hello', title: 'Hello: one template', config: body(hello), pod: body(sleep) },
  {
    name: 'revision-tag-canary',
    title: 'A revision and its tag',
    config: `${body(revision)}---\n${body(tag)}`,
    pod: sleepWith('istio.io/rev: prod'),
  },
  { name: 'istio-1.1-release', title: 'Istio 1.1', config: body(istio), pod: sleepWith('istio.io/rev: istio-1-1') },
  {
    name: 'kubesphere-logsidecar',
    title: 'A log sidecar',
    config: body(logSidecar),
    pod: sleepWith('kubesphere.io/workspace: demo'),
  },
  catalogued('log-shipper', 'a log shipper', logShipper, 'catalog/logs'),
  catalogued('oauth2-proxy', 'oauth2-proxy', oauth2Proxy, 'catalog/oauth2'),
  catalogued('vault-agent', 'a Vault agent', vaultAgent, 'catalog/vault'),
  catalogued('envoy', 'Envoy', envoy, 'catalog/envoy'),
  { name: 'not-selected', title: 'A pod that is not selected', config: body(hello), pod: sleepWith('team: demo') },
];
