import assert from 'node:assert/strict';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { revisionTag } from '../../api/testdata/revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { explainCreation } from '../../explain/explain-creation.ts';
import { surroundingsOf, type Facts } from './facts.ts';
import { type Cause, causesOf } from './causes.ts';

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

interface Given {
  readonly configs?: readonly InjectorConfig[];
  readonly tags?: readonly RevisionTag[];
  readonly published?: Facts['configurations'];
}

function causesFor(
  namespace: Record<string, string>,
  metadata: unknown,
  { configs = [], tags = [], published = [] }: Given,
): Cause[] {
  const facts: Facts = {
    configurations: published,
    namespaces: new Map(),
    filesOf: () => ({ unavailable: 'nobody asks' }),
    injectorConfigs: configs,
    revisionTags: tags,
    health: { asked: [], replicas: [], leaders: [], readAt: 0, unreadable: 'who leads is not asked here' },
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
const unseen = 'NotLookedAt: no operator has looked at it; is one running?';
const describeOld = 'kubectl describe injectorconfig 1-24';
const paused = `InjectorConfig 1-24 is paused (spec.paused)`;
const enable = 'injector enable --revision 1-24';

describe('causesOf', () => {
  const one = { configs: [old] };
  const twins = { configs: [old, config('twin', { revision: '1-24' })], tags: [tag('prod')] };
  const off = { configs: [config('1-24', { paused: true }, notReady)], tags: [tag('prod', notReady)] };
  const lost = { configs: [old], tags: [{ ...tag('lost'), spec: { ...tag('lost').spec, revision: '1-23' } }] };
  const configs = [old, config('logs', { webhook: { keys: logs } })];
  const family = { configs, tags: [tag('prod')], published: [webhook] };
  const none = (label: string, value: string, there: string, whose = 'namespace'): string =>
    `the ${whose}'s label ${label}=${value} has no effect: there is no revision or tag ${value}; there are: ${there}`;
  type Row = [string, Record<string, string>, unknown, Given, message?: string, command?: string];
  const table: Row[] = [
    ['no label', {}, {}, one],
    ['a value that is none', {}, { labels: { 'istio.io/rev': 7 } }, one],
    ['no InjectorConfig: no label counts', names('1-24'), {}, {}],
    ['a revision with a webhook', names('1-24'), {}, { ...one, published: [webhook] }],
    ['a revision that nothing has reported on', names('1-24'), {}, one, `${away}${unseen}`, describeOld],
    [
      'one that is not ready',
      names('1-24'),
      {},
      { configs: [config('1-24', {}, notReady)] },
      `${away}TemplateError: line 3`,
      describeOld,
    ],
    [
      'one that says it is ready',
      names('1-24'),
      {},
      { configs: [config('1-24', {}, isReady)] },
      `${away}somebody has deleted it; if the operator does not write it again soon, its log says why`,
      describeOld,
    ],
    ['a paused one, whatever else is said of it', names('1-24'), {}, off, `${away}${paused}`, enable],
    ['a tag that leads to it', names('prod'), {}, off, `RevisionTag prod has no webhook: ${paused}`, enable],
    ["a pod's own label", {}, { labels: names('1-24') }, one, `${away}${unseen}`, describeOld],
    ["the namespace's beats it", names('1-24'), { labels: names('1-99') }, { ...one, published: [webhook] }],
    ['an unknown revision: all, each once', names('1-99'), {}, twins, none('istio.io/rev', '1-99', '1-24, prod')],
    ['a tag of an unknown revision counts', names('1-99'), {}, lost, none('istio.io/rev', '1-99', '1-24, lost')],
    ['of a pod', {}, { labels: names('1-99') }, one, none('istio.io/rev', '1-99', '1-24', 'pod')],
    ['a tag with a webhook', names('prod'), {}, { ...one, tags: [tag('prod')], published: [tagged] }],
    [
      "a tag without one: its revision's is not enough",
      names('prod'),
      {},
      { ...one, tags: [tag('prod', notReady)], published: [webhook] },
      'RevisionTag prod has no webhook: TemplateError: line 3',
      'kubectl describe revisiontag prod',
    ],
    ['a label of another family', { 'logs/rev': '1-24' }, {}, family, none('logs/rev', '1-24', 'logs')],
  ];
  for (const [what, namespace, metadata, given, message, command] of table) {
    it(what, () => {
      const found = causesFor(namespace, metadata, given).map((cause) => [cause.message, cause.command]);
      assert.deepEqual(found, message === undefined ? [] : [[message, command]]);
    });
  }
});
