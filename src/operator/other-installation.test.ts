import assert from 'node:assert/strict';
import { otherInstallation } from './other-installation.ts';

const leadingTo = (...clientConfigs: object[]) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: {},
  webhooks: clientConfigs.map((clientConfig) => ({ clientConfig })),
});
const service = (namespace: string): object => ({ service: { namespace, name: 'sidecar-injector-blue' } });

describe('otherInstallation', () => {
  const cases: [what: string, live: ReturnType<typeof leadingTo> | undefined, expected: string | undefined][] = [
    ['no webhook configuration', undefined, undefined],
    ['no webhooks', leadingTo(), undefined],
    ['our Service', leadingTo(service('ours'), service('ours')), undefined],
    ['the Service of another namespace', leadingTo(service('theirs'), service('theirs')), 'theirs'],
    ['one webhook that somebody bent', leadingTo(service('ours'), service('theirs')), undefined],
    ['webhooks of several namespaces', leadingTo(service('one'), service('two')), undefined],
    ['a url', leadingTo({ url: 'https://host/' }), undefined],
  ];
  for (const [what, live, expected] of cases) {
    it(`${what}: ${expected ?? 'none'}`, () => {
      assert.equal(otherInstallation(live, 'ours'), expected);
    });
  }
});
