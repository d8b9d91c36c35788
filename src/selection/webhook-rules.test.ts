import assert from 'node:assert/strict';
import { takesPodCreations, type WebhookRule } from './webhook-rules.ts';

const rule: WebhookRule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };

const table: [title: string, change: Partial<WebhookRule>, takes: boolean][] = [
  ['the rule of this operator', { scope: 'Namespaced' }, true],
  ['every operation', { operations: ['*'] }, true],
  ['UPDATE only', { operations: ['UPDATE'] }, false],
  ['every group', { apiGroups: ['*'] }, true],
  ['another group', { apiGroups: ['apps'] }, false],
  ['every version', { apiVersions: ['*'] }, true],
  ['another version', { apiVersions: ['v1beta1'] }, false],
  ['every resource', { resources: ['*'] }, true],
  ['everything with subresources', { resources: ['*/*'] }, true],
  ['pods with subresources', { resources: ['pods/*'] }, true],
  ['a subresource', { resources: ['pods/status'] }, false],
  ['other resources', { resources: ['configmaps', 'podtemplates'] }, false],
  ['cluster scope', { scope: 'Cluster' }, false],
];

describe('takesPodCreations', () => {
  for (const [title, change, takes] of table) {
    it(`${takes ? 'matches' : 'does not match'} ${title}`, () => {
      assert.equal(takesPodCreations({ ...rule, ...change }), takes);
    });
  }
});
