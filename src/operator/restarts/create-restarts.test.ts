import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames } from '../../api/names.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { judgedPath } from './create-restarts.ts';
import { selectingWebhook } from './testdata/situation.ts';

const atRest = '/tags/prod/old/0123abcd/inject';
const threshold = '4000000000000000';
const inRollout = `/tags/prod/old/0123abcd/new/4567cdef/${threshold}/inject`;
const inShadow = `/tags/prod/old/0123abcd/new/4567cdef/${noWorkload}/shadow`;

function webhook(path: string, tag = 'prod'): KubernetesObject {
  const service = { name: 's', namespace: 'n', path };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'sidecar-injector-tag-prod', labels: { [labelNames.tag]: tag } },
    webhooks: [{ name: 'x.sidecar-injector.io', rules: [{ resources: ['pods'] }], clientConfig: { service } }],
  };
}

const judge = (fields: Partial<SelectingWebhook> = {}): SelectingWebhook =>
  selectingWebhook({ injectorConfig: 'old', hash: '0123abcd', ...fields });

describe('judgedPath', () => {
  const canary = { injectorConfig: 'new', hash: '4567cdef', threshold };
  const other = { ...canary, threshold: '8'.repeat(16) };
  type Judge = SelectingWebhook | undefined;
  const cases: [what: string, live: KubernetesObject | undefined, judging: Judge, path: string | null | undefined][] = [
    ['is that of the webhook by which pods are judged', webhook(atRest), judge(), atRest],
    ['has both sides of a rollout', webhook(inRollout), judge({ canary }), inRollout],
    ['says of a shadow step that it is one', webhook(inShadow), judge(), inShadow],
    ['is of the path also where the webhook has a URL', webhook(`https://host:1${atRest}`), judge(), atRest],
    ['is null without a webhook', undefined, undefined, null],
    ['is null without a webhook that takes pods', undefined, judge({ hash: undefined }), null],
    ['is null while the webhook of the name is not the tag’s', webhook(atRest, 'other'), undefined, null],
    ['is null while the judge of the name is not the tag', undefined, judge({ tag: 'other' }), null],
    ['is not known while nobody judges by the webhook yet', webhook(atRest), undefined, undefined],
    ['is not known while the judge is still to be published', webhook(atRest), judge({ hash: undefined }), undefined],
    ['is not known by an older configuration', webhook(atRest), judge({ hash: '00000000' }), undefined],
    ['is not known by another InjectorConfig', webhook(atRest), judge({ injectorConfig: 'new' }), undefined],
    ['is not known at another share', webhook(inRollout), judge({ canary: other }), undefined],
    ['is not known while the webhook that is gone judges', undefined, judge(), undefined],
  ];
  for (const [what, live, judging, path] of cases) {
    it(what, () => {
      assert.equal(judgedPath('prod', live, judging), path);
    });
  }
});
