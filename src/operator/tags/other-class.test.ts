import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { context, eachTest, injectorConfig } from '../testdata/operator-fixture.ts';
import { revisionTag, TagFixture } from './testdata/tag-fixture.ts';

const kind = 'MutatingWebhookConfiguration';
const plural = 'mutatingwebhookconfigurations';

/** Returns a webhook configuration of another operator class. */
function foreign(name: string, injectorConfigName: string, tag?: string, namespace = 'elsewhere'): KubernetesObject {
  const path = `/revisions/${injectorConfigName}/01234567/inject`;
  const service = { namespace, name: `sidecar-injector-${injectorConfigName}`, path, port: 443 };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name,
      labels: {
        'app.kubernetes.io/managed-by': 'sidecar-injector',
        'sidecar-injector.io/operator-class': 'other',
        'sidecar-injector.io/injector-config': injectorConfigName,
        ...(tag === undefined ? {} : { 'sidecar-injector.io/tag': tag }),
      },
    },
    webhooks: [{ name: 'namespace.sidecar-injector.io', clientConfig: { caBundle: 'AAAA', service } }],
  };
}

describe('beside an operator of another class', () => {
  const fixture = eachTest(new TagFixture());

  it('does not touch the probe webhook of a tag of that class', async () => {
    fixture.cluster.put('revisiontags', revisionTag('prod', 'theirs', { operatorClass: 'other' }));
    fixture.cluster.put(plural, foreign('sidecar-injector-probe-tag-prod', 'theirs', 'prod'));
    fixture.cluster.put(plural, foreign('sidecar-injector-tag-prod', 'theirs', 'prod'));
    const before = fixture.cluster.writes.length;
    await fixture.reconcileTag('prod');
    assert.deepEqual(fixture.cluster.writes.slice(before), []);
  });

  it('tag default waits until the webhook of the other InjectorConfig default is deleted', async () => {
    fixture.cluster.put('injectorconfigs', injectorConfig('default', { operatorClass: 'other' }));
    fixture.cluster.put(plural, foreign('sidecar-injector-default', 'default'));
    await fixture.install('new');
    const before = fixture.cluster.writes.length;
    await fixture.tag('default', 'new');
    const written = fixture.cluster.writes.slice(before).filter((write) => write.includes(plural));
    assert.deepEqual(written, [], 'not even a probe webhook');
    fixture.tagSays(
      'default',
      'Ready',
      /^False\/OtherOperatorClass: MutatingWebhookConfiguration sidecar-injector-default belongs to operator class other, so nothing is published: delete /,
    );
    fixture.cluster.remove(plural, 'sidecar-injector-default');
    await fixture.reconcileTag('default');
    assert.equal(fixture.tagPath('default'), `/tags/default/new/${fixture.hash('new')}/inject`);
  });

  for (const namespace of ['elsewhere', context.namespace]) {
    it(`InjectorConfig default waits until the webhook of the other tag default, in namespace ${namespace}, is deleted`, async () => {
      fixture.cluster.put('revisiontags', revisionTag('default', 'theirs', { operatorClass: 'other' }));
      fixture.cluster.put(plural, foreign('sidecar-injector-default', 'theirs', 'default', namespace));
      await fixture.install('default');
      await fixture.reconcile('default');
      assert.equal(fixture.path('default'), '/revisions/theirs/01234567/inject');
      fixture.says('default', 'Ready', /^False\/OtherOperatorClass: .* belongs to operator class other/);
      await fixture.recorded(/^OtherOperatorClass: /);
      fixture.cluster.remove(plural, 'sidecar-injector-default');
      await fixture.reconcile('default');
      assert.match(fixture.path('default') ?? '', /^\/revisions\/default\//);
    });
  }
});
