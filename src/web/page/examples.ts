import envoy from '../../../catalog/envoy.yaml';
import logShipper from '../../../catalog/log-shipper.yaml';
import oauth2Proxy from '../../../catalog/oauth2-proxy.yaml';
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
}

/** Removes the comments at the begin, which are about files. */
const body = (text: string): string => text.replace(/^(?:#.*\n)+/, '');
const sleepWith = (label: string): string => body(sleep).replace('    istio-injection: enabled', `    ${label}`);
const sleepLabelled = (label: string): string =>
  body(sleep).replace('        app: sleep\n', `        app: sleep\n        ${label}: 'true'\n`);

export const examples: readonly [Example, ...Example[]] = [
  { title: 'Hello: one template', config: body(hello), pod: body(sleep) },
  {
    title: 'A revision and its tag',
    config: `${body(revision)}---\n${body(tag)}`,
    pod: sleepWith('istio.io/rev: prod'),
  },
  { title: 'Istio 1.1', config: body(istio), pod: sleepWith('istio.io/rev: istio-1-1') },
  { title: 'A log sidecar', config: body(logSidecar), pod: sleepWith('kubesphere.io/workspace: demo') },
  { title: 'Catalog: a log shipper', config: body(logShipper), pod: sleepLabelled('catalog/logs') },
  { title: 'Catalog: oauth2-proxy', config: body(oauth2Proxy), pod: sleepLabelled('catalog/oauth2') },
  { title: 'Catalog: Envoy', config: body(envoy), pod: sleepLabelled('catalog/envoy') },
  { title: 'A pod that is not selected', config: body(hello), pod: sleepWith('team: demo') },
];
