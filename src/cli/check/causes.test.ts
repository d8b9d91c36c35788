import assert from 'node:assert/strict';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { explainCreation } from '../../explain/explain-creation.ts';
import type { Facts } from './facts.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { type Cause, causesOf } from './check-report.ts';

type Status = NonNullable<InjectorConfig['status']>;

const context = { namespace: 'home', operatorClass: 'default', podSelector: {}, targetPort: 15017 };
const logs = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
const lastTransitionTime = '2026-01-01T00:00:00Z';
const condition = { type: 'Ready', status: 'False', reason: 'TemplateError', message: 'line 3', lastTransitionTime };
const notReady = { observedGeneration: 1, conditions: [condition] } as Status;
const isReady = { observedGeneration: 1, conditions: [{ ...condition, status: 'True' }] } as Status;

function config(name: string, spec: Record<string, unknown> = {}, status?: Status): InjectorConfig {
  return { ...injectorConfig(name, spec), ...(status && { status }) };
}

function tag(name: string, status?: object): RevisionTag {
  return { ...revisionTag(name), ...(status && { status }) };
}

interface Existing {
  readonly configs?: readonly InjectorConfig[];
  readonly tags?: readonly RevisionTag[];
  readonly published?: Facts['configurations'];
}

function causesFor(
  namespace: Record<string, string>,
  metadata: unknown,
  { configs = [], tags = [], published = [] }: Existing,
): Cause[] {
  const facts: Facts = {
    configurations: published,
    namespaces: new Map(),
    filesOf: () => ({ unavailable: 'not used' }),
    injectorConfigs: configs,
    revisionTags: tags,
    health: { asked: [], replicas: [], leaders: [], readAt: 0, unreadable: 'not used' },
    notes: [],
  };
  const creation = { pod: { metadata }, namespace: { name: 'shop', labels: namespace } };
  const around = surroundingsOf(facts);
  return causesOf(creation, { ...explainCreation(creation, around), outcome: 'NotInjected' }, facts, around);
}

const names = (value: string): Record<string, string> => ({ 'istio.io/rev': value });
const old = config('1-24');
const webhook = webhookConfiguration({ config: old, hash: '00000000', caBundlePem: '' }, context);
const tagged = webhookConfiguration({ tag: tag('prod'), config: old, hash: '00000000', caBundlePem: '' }, context);
const away = 'InjectorConfig 1-24 has no webhook: ';
const unseen = 'NotLookedAt: no operator has reconciled the current spec; check that the operator is running';
const describeOld = 'kubectl describe injectorconfig 1-24';
const paused = `InjectorConfig 1-24 is paused (spec.paused)`;
const enable = 'injector enable 1-24';

describe('causesOf', () => {
  const one = { configs: [old] };
  const doubled = { configs: [old, config('other', { revision: '1-24' })], tags: [tag('prod')] };
  const off = { configs: [config('1-24', { paused: true }, notReady)], tags: [tag('prod', notReady)] };
  const lost = { configs: [old], tags: [{ ...tag('lost'), spec: { ...tag('lost').spec, revision: '1-23' } }] };
  const configs = [old, config('logs', { webhook: { keys: logs } })];
  const family = { configs, tags: [tag('prod')], published: [webhook] };
  const none = (label: string, value: string, there: string, whose = 'namespace'): string =>
    `the ${whose}'s label ${label}=${value} has no effect: there is no revision or tag ${value}; existing names: ${there}`;
  type Row = [string, Record<string, string>, unknown, Existing, message?: string, command?: string];
  const table: Row[] = [
    ['no label', {}, {}, one],
    ['a label that is not a string', {}, { labels: { 'istio.io/rev': 7 } }, one],
    ['a label while there is no InjectorConfig', names('1-24'), {}, {}],
    ['a revision with a webhook', names('1-24'), {}, { ...one, published: [webhook] }],
    ['a revision without a status', names('1-24'), {}, one, `${away}${unseen}`, describeOld],
    [
      'a revision that is not ready',
      names('1-24'),
      {},
      { configs: [config('1-24', {}, notReady)] },
      `${away}TemplateError: line 3`,
      describeOld,
    ],
    [
      'a ready revision whose webhook was deleted',
      names('1-24'),
      {},
      { configs: [config('1-24', {}, isReady)] },
      `${away}the webhook was deleted; if the operator does not create it again soon, read the log of the operator`,
      describeOld,
    ],
    ['a paused revision with other problems', names('1-24'), {}, off, `${away}${paused}`, enable],
    ['a tag for a paused revision', names('prod'), {}, off, `RevisionTag prod has no webhook: ${paused}`, enable],
    ["a pod's label", {}, { labels: names('1-24') }, one, `${away}${unseen}`, describeOld],
    ["a namespace's overriding label", names('1-24'), { labels: names('1-99') }, { ...one, published: [webhook] }],
    ['an unknown revision with all names', names('1-99'), {}, doubled, none('istio.io/rev', '1-99', '1-24, prod')],
    ['an unknown revision next to a lost tag', names('1-99'), {}, lost, none('istio.io/rev', '1-99', '1-24, lost')],
    ['an unknown label of a pod', {}, { labels: names('1-99') }, one, none('istio.io/rev', '1-99', '1-24', 'pod')],
    ['a tag with a webhook', names('prod'), {}, { ...one, tags: [tag('prod')], published: [tagged] }],
    [
      'a tag without a webhook whose revision has a webhook',
      names('prod'),
      {},
      { ...one, tags: [tag('prod', notReady)], published: [webhook] },
      'RevisionTag prod has no webhook: TemplateError: line 3',
      'kubectl describe revisiontag prod',
    ],
    ['a label of another family', { 'logs/rev': '1-24' }, {}, family, none('logs/rev', '1-24', 'logs')],
  ];
  for (const [title, namespace, metadata, existing, message, command] of table) {
    it(`${message === undefined ? 'finds no cause for' : 'explains'} ${title}`, () => {
      const found = causesFor(namespace, metadata, existing).map((cause) => [cause.message, cause.command]);
      assert.deepEqual(found, message === undefined ? [] : [[message, command]]);
    });
  }
});
