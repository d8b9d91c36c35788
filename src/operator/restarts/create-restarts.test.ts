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
    ['returns the live path if pods are judged by it', webhook(atRest), judge(), atRest],
    ['returns stable and canary of a rollout', webhook(inRollout), judge({ canary }), inRollout],
    ['returns the path of a shadow step', webhook(inShadow), judge(), inShadow],
    ['returns only the path of a URL', webhook(`https://host:1${atRest}`), judge(), atRest],
    ['returns null if there is no webhook', undefined, undefined, null],
    ['returns null if neither a webhook nor a hash exists', undefined, judge({ hash: undefined }), null],
    ['returns null for the webhook of another tag', webhook(atRest, 'other'), undefined, null],
    ['returns null if pods are judged by another tag', undefined, judge({ tag: 'other' }), null],
    ['returns undefined before pods are judged', webhook(atRest), undefined, undefined],
    ['returns undefined if the judging webhook has no hash', webhook(atRest), judge({ hash: undefined }), undefined],
    ['returns undefined if the hashes differ', webhook(atRest), judge({ hash: '00000000' }), undefined],
    ['returns undefined for another InjectorConfig', webhook(atRest), judge({ injectorConfig: 'new' }), undefined],
    ['returns undefined for another threshold', webhook(inRollout), judge({ canary: other }), undefined],
    ['returns undefined if the judging webhook is deleted', undefined, judge(), undefined],
  ];
  for (const [what, live, judging, path] of cases) {
    it(what, () => {
      assert.equal(judgedPath('prod', live, judging), path);
    });
  }
});
