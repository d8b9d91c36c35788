import assert from 'node:assert/strict';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { surroundingsOf, type Facts } from './facts.ts';
import { whatHasNoWebhook } from './without-webhook.ts';

type Status = NonNullable<InjectorConfig['status']>;

const context = { namespace: 'home', operatorClass: 'default', podSelector: {}, targetPort: 15017 };
const logs = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
const lastTransitionTime = '2026-01-01T00:00:00Z';
const notReady = {
  conditions: [{ type: 'Ready', status: 'False', reason: 'TemplateError', message: 'line 3', lastTransitionTime }],
} as Status;

function config(name: string, spec: Record<string, unknown> = {}, status?: Status): InjectorConfig {
  return { ...injectorConfig(name, spec), ...(status && { status }) };
}

function tag(name: string, status?: object): RevisionTag {
  return { ...revisionTag(name), ...(status && { status }) };
}

interface Given {
  readonly configs?: readonly InjectorConfig[];
  readonly tags?: readonly RevisionTag[];
  readonly published?: Facts['configurations'];
}

function notesFor(
  namespace: Record<string, string>,
  metadata: unknown,
  { configs = [], tags = [], published = [] }: Given,
): string[] {
  const facts: Facts = {
    configurations: published,
    namespaces: new Map(),
    filesOf: () => ({ unavailable: 'nobody asks' }),
    injectorConfigs: configs,
    revisionTags: tags,
    notes: [],
  };
  const creation = { pod: { metadata }, namespace: { name: 'shop', labels: namespace } };
  return whatHasNoWebhook(creation, facts, surroundingsOf(facts));
}

const names = (value: string): Record<string, string> => ({ 'istio.io/rev': value });
const old = config('1-24');
const webhook = webhookConfiguration({ config: old, hash: '00000000', caBundlePem: '' }, context);
const tagged = webhookConfiguration({ tag: tag('prod'), config: old, hash: '00000000', caBundlePem: '' }, context);
const asked = 'the namespace\'s label istio.io/rev is "1-24", but InjectorConfig 1-24 has no webhook: ';
const byTag = 'the namespace\'s label istio.io/rev is "prod", but RevisionTag prod has no webhook: ';

describe('whatHasNoWebhook', () => {
  const one = { configs: [old] };
  const twins = { configs: [old, config('twin', { revision: '1-24' })], tags: [tag('prod')] };
  const lost = { configs: [old], tags: [{ ...tag('lost'), spec: { ...tag('lost').spec, revision: '1-23' } }] };
  const family = {
    configs: [old, config('logs', { webhook: { keys: logs } })],
    tags: [tag('prod')],
    published: [webhook],
  };
  const none = (label: string, value: string): string =>
    `the namespace's label ${label} is "${value}", but there is no such revision or tag; there are: `;
  const table: [what: string, namespace: Record<string, string>, metadata: unknown, given: Given, note?: string][] = [
    ['no label', {}, {}, one],
    ['no metadata at all', {}, undefined, one],
    ['labels that are none', {}, { labels: 'x' }, one],
    ['a value that is none', {}, { labels: { 'istio.io/rev': 7 } }, one],
    ['no InjectorConfig: no label counts', names('1-24'), {}, {}],
    ['a revision with a webhook', names('1-24'), {}, { ...one, published: [webhook] }],
    ['a revision that nothing has reported on', names('1-24'), {}, one, `${asked}nothing has reported on it`],
    [
      'one that is not ready',
      names('1-24'),
      {},
      { configs: [config('1-24', {}, notReady)] },
      `${asked}TemplateError: line 3`,
    ],
    [
      'a paused one, whatever else is said of it',
      names('1-24'),
      {},
      { configs: [config('1-24', { paused: true }, notReady)] },
      `${asked}it is paused (spec.paused)`,
    ],
    [
      "a pod's own label",
      {},
      { labels: names('1-24') },
      one,
      'the pod\'s label istio.io/rev is "1-24", but InjectorConfig 1-24 has no webhook: nothing has reported on it',
    ],
    ["the namespace's beats it", names('1-24'), { labels: names('1-99') }, { ...one, published: [webhook] }],
    ['an unknown revision: all, each once', names('1-99'), {}, twins, `${none('istio.io/rev', '1-99')}1-24, prod`],
    ['a tag of an unknown revision counts', names('1-99'), {}, lost, `${none('istio.io/rev', '1-99')}1-24, lost`],
    ['a tag with a webhook', names('prod'), {}, { ...one, tags: [tag('prod')], published: [tagged] }],
    [
      "a tag without one: its revision's is not enough",
      names('prod'),
      {},
      { ...one, tags: [tag('prod', notReady)], published: [webhook] },
      `${byTag}TemplateError: line 3`,
    ],
    [
      'a tag that nothing has reported on',
      names('prod'),
      {},
      { ...one, tags: [tag('prod', {})] },
      `${byTag}nothing has reported on it`,
    ],
    ['a label of another family', { 'logs/rev': '1-24' }, {}, family, `${none('logs/rev', '1-24')}logs`],
  ];
  for (const [what, namespace, metadata, given, note] of table) {
    it(what, () => {
      assert.deepEqual(notesFor(namespace, metadata, given), note === undefined ? [] : [note]);
    });
  }
});
