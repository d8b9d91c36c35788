import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { eachTest, OperatorFixture } from '../testdata/operator-fixture.ts';
import { otherInstallation } from './validator-reconcile.ts';

const name = 'sidecar-injector-default-validator';

describe('ValidatorReconciler', () => {
  const fixture = eachTest(new OperatorFixture());
  const { signal } = new AbortController();
  const pointTo = (namespace: string): void => {
    fixture.cluster.edit('validatingwebhookconfigurations', name, undefined, (object) => {
      const [webhook] = object.webhooks as { clientConfig: { service: { namespace: string } } }[];
      if (webhook !== undefined) webhook.clientConfig.service.namespace = namespace;
    });
  };
  const namespace = (): string | undefined => {
    const { webhooks } = fixture.cluster.get('validatingwebhookconfigurations', name) as KubernetesObject & {
      webhooks: { clientConfig: { service: { namespace: string } } }[];
    };
    return webhooks[0]?.clientConfig.service.namespace;
  };
  const pass = async (): Promise<number> => {
    await fixture.caughtUp();
    return fixture.reconcilers.validator.reconcile(signal);
  };

  it('repairs its webhook after another client pointed the webhook to another namespace', async () => {
    await pass();
    pointTo('elsewhere');
    await pass();
    assert.equal(namespace(), 'injection');
  });

  it('writes nothing while another installation of its operator class owns the webhook, and logs this once', async () => {
    await pass();
    pointTo('elsewhere');
    for (const plural of ['secrets', 'services']) {
      for (const each of fixture.cluster.names(plural)) fixture.cluster.remove(plural, each, 'injection');
    }
    const before = fixture.cluster.writes.length;
    assert.equal(await pass(), 600_000);
    await pass();
    assert.equal(fixture.cluster.writes.length, before);
    const warnings = fixture.logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /calls a Service in namespace elsewhere, .* another --operator-class/);
    fixture.cluster.remove('validatingwebhookconfigurations', name);
    await pass();
    assert.equal(namespace(), 'injection');
  });
});

const calling = (...clientConfigs: object[]) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: {},
  webhooks: clientConfigs.map((clientConfig) => ({ clientConfig })),
});
const service = (namespace: string): object => ({ service: { namespace, name: 'sidecar-injector-blue' } });

describe('otherInstallation', () => {
  const cases: [what: string, live: ReturnType<typeof calling> | undefined, expected: string | undefined][] = [
    ['a missing webhook configuration', undefined, undefined],
    ['a webhook configuration without webhooks', calling(), undefined],
    ['webhooks that call our Service', calling(service('ours'), service('ours')), undefined],
    ['webhooks that call a Service in another namespace', calling(service('other'), service('other')), 'other'],
    ['two webhooks of which another client edited one', calling(service('ours'), service('other')), undefined],
    ['webhooks that call Services in two other namespaces', calling(service('one'), service('two')), undefined],
    ['a webhook with a url', calling({ url: 'https://host/' }), undefined],
  ];
  for (const [what, live, expected] of cases) {
    it(`returns ${expected === undefined ? 'undefined' : `namespace ${expected}`} for ${what}`, () => {
      assert.equal(otherInstallation(live, 'ours'), expected);
    });
  }
});
