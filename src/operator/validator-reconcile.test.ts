import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { OperatorFixture } from './testdata/operator-fixture.ts';

const name = 'sidecar-injector-default-validator';

describe('ValidatorReconciler', () => {
  let fixture: OperatorFixture;
  const { signal } = new AbortController();
  beforeEach(async () => {
    fixture = new OperatorFixture();
    await fixture.start();
  });
  afterEach(() => fixture.stop());
  const leadTo = (namespace: string): void => {
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

  it('takes its webhook back from somebody who led it elsewhere', async () => {
    await pass();
    leadTo('elsewhere');
    await pass();
    assert.equal(namespace(), 'injection');
  });

  it('writes nothing where another installation of its class lives, and says so once', async () => {
    await pass();
    leadTo('elsewhere');
    for (const plural of ['secrets', 'services']) {
      for (const each of fixture.cluster.names(plural)) fixture.cluster.remove(plural, each, 'injection');
    }
    const before = fixture.cluster.writes.length;
    assert.equal(await pass(), 600_000);
    await pass();
    assert.equal(fixture.cluster.writes.length, before);
    const warnings = fixture.logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /leads to namespace elsewhere, .* give this one another --operator-class/);
    fixture.cluster.remove('validatingwebhookconfigurations', name);
    await pass();
    assert.equal(namespace(), 'injection');
  });
});
