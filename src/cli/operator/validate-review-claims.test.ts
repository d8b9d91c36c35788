import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { loadInjector } from '../../inject/injector.ts';
import { TagTargets } from '../../operator/tags/tag-targets.ts';
import { validateReview } from './validate-review.ts';

const apiVersion = 'sidecar-injector.io/v1alpha1';
const ready = { conditions: [condition('True', 'Serving', 'all well')] };

const waiting = { conditions: [condition('False', 'WaitingForReplicas', 'a replica is missing')] };

function condition(status: 'True' | 'False', reason: string, message: string) {
  return { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

function config(name: string, spec: object = {}, status: object = ready, metadata: object = {}): KubernetesObject {
  const injection = { templates: { sidecar: 'spec: {}' } };
  return { apiVersion, kind: 'InjectorConfig', metadata: { name, ...metadata }, spec: { injection, ...spec }, status };
}

function tag(name: string, revision: string, spec: object = {}, status: object = {}): KubernetesObject {
  return { apiVersion, kind: 'RevisionTag', metadata: { name }, spec: { revision, ...spec }, status };
}

const logs = { keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' } };
const custom = { webhook: { selection: 'Custom', namespaceSelector: { matchLabels: { team: 'a' } } } };
/** One that is called by a url, with the certificate of a Secret if that is named. */
function at(name: string, url: string, secret?: string): KubernetesObject {
  const certificate = secret === undefined ? {} : { certificate: { provider: 'Secret', secretRef: { name: secret } } };
  return config(name, { webhook: { url }, ...certificate });
}

const prod = tag('prod', '1-24', {}, { injectorConfig: '1-24' });
const stored: KubernetesObject[] = [
  at('outside', 'https://outside.example.com'),
  at('shared', 'https://shared.example.com', 'tls'),
  config('1-24'),
  config('1-25'),
  config('unready', {}, waiting),
  config('edited', {}, { ...waiting, config: { hash: '0123abcd' } }),
  config('paused', { paused: true }),
  config('custom', { webhook: { ...custom.webhook, keys: { ...logs.keys, status: 'x' } } }),
  config('logs', { revision: 'logs', webhook: logs }),
  config('other-class', { revision: 'elsewhere', operatorClass: 'other' }),
  config('going', { revision: 'leaving' }, ready, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  prod,
];

/** The first mistake about an object beside those that are stored, as `field: message`. */
async function firstMistake(
  object: KubernetesObject,
  old: KubernetesObject | null = null,
  objects = stored,
): Promise<string> {
  const list = (kind: string) => ({ list: () => objects.filter((each) => each.kind === kind) });
  const tags = list('RevisionTag');
  const targetOf = (name: string): string | undefined => {
    const found = tags.list().find(({ metadata }) => metadata.name === name);
    return (found?.status as { injectorConfig?: string } | undefined)?.injectorConfig;
  };
  const targets = new TagTargets({ configs: list('InjectorConfig'), tags, targetOf }, 'default');
  const request = {
    uid: 'a',
    resource:
      object.kind === 'RevisionTag' ? 'revisiontags.sidecar-injector.io' : 'injectorconfigs.sidecar-injector.io',
    subResource: '',
    name: object.metadata.name ?? '',
    namespace: '',
    operation: old === null ? 'CREATE' : 'UPDATE',
    dryRun: false,
    object,
    oldObject: old,
  } as const;
  const load = (files: Parameters<typeof loadInjector>[0]) => Promise.resolve().then(() => loadInjector(files));
  const { mistakes } = await validateReview(load, request, { targets, synced: true });
  return mistakes[0] === undefined ? 'none' : `${mistakes[0].field}: ${mistakes[0].message}`;
}

describe('the review of a RevisionTag', () => {
  const rows: [what: string, object: KubernetesObject, old: KubernetesObject | null, mistake: RegExp][] = [
    ['to a revision that is ready', tag('canary', '1-25'), null, /^none$/],
    ['default to a revision that is ready', tag('default', '1-25'), null, /^none$/],
    ['with an invalid spec', tag('canary', 'NO'), null, /^spec\.revision: RevisionTag canary/],
    ['that breaks a rule', tag('canary', 'canary'), null, /^spec\.revision: .*own name/],
    [
      'to an unknown revision',
      tag('canary', '1-26'),
      null,
      /^spec\.revision: spec\.revision 1-26: .*\(there are 1-24, 1-25, .*\); create it, or name another one$/,
    ],
    [
      'to one of another class',
      tag('canary', 'elsewhere'),
      null,
      /^spec\.revision: .*no InjectorConfig of operator class default/,
    ],
    ['to a revision that is being deleted', tag('canary', 'leaving'), null, /^spec\.revision: .*no InjectorConfig/],
    ['to another tag', tag('canary', 'prod'), null, /^spec\.revision: .*no InjectorConfig/],
    [
      'to a revision that is not ready',
      tag('canary', 'unready'),
      null,
      /^spec\.revision: spec\.revision unready: InjectorConfig unready is not ready \(WaitingForReplicas: a replica is missing\); wait/,
    ],
    ['to a revision that serves, while replicas load an edit of it', tag('canary', 'edited'), null, /^none$/],
    ['to a paused one', tag('canary', 'paused'), null, /^spec\.revision: .*paused \(spec\.paused\)/],
    ['to selectors of its own', tag('canary', 'custom'), null, /^spec\.revision: .*selection Custom/],
    [
      'moved to another family',
      tag('prod', 'logs'),
      prod,
      /^spec\.revision: .*other spec\.webhook\.keys than InjectorConfig 1-24/,
    ],
    ['moved to a revision that is ready', tag('prod', '1-25'), prod, /^none$/],
    ['moved to an unknown revision', tag('prod', '1-26'), prod, /^spec\.revision: /],
    ['unchanged, wherever it leads', tag('prod', '1-26'), tag('prod', '1-26'), /^none$/],
    [
      'named like a revision',
      tag('1-25', '1-24'),
      null,
      /^metadata\.name: metadata\.name: InjectorConfig 1-25 takes the same pods, its revision is 1-25; give the tag another name$/,
    ],
    ['named like a revision of another family', tag('logs', '1-24'), null, /^none$/],
  ];
  for (const [what, object, old, mistake] of rows) {
    it(`${what}: ${String(mistake)}`, async () => {
      assert.match(await firstMistake(object, old), mistake);
    });
  }

  it('is one beside selectors that could take its pods', async () => {
    const objects = [...stored, config('wide', { webhook: { selection: 'Custom', objectSelector: {} } })];
    assert.match(
      await firstMistake(tag('canary', '1-25'), null, objects),
      /^metadata\.name: .*InjectorConfig wide takes the same pods by selectors of its own; let its/,
    );
  });
});

describe('the review of an InjectorConfig beside others', () => {
  const rows: [what: string, object: KubernetesObject, old: KubernetesObject | null, mistake: RegExp][] = [
    ['of a revision of its own', config('1-26'), null, /^none$/],
    [
      'of the revision of another',
      config('mine', { revision: '1-24' }),
      null,
      /^spec\.revision: .*InjectorConfig 1-24 takes the same pods, its revision is 1-24; choose another revision/,
    ],
    ['of the revision of another family', config('mine', { revision: '1-24', webhook: logs }), null, /^none$/],
    ['of the revision of one that is being deleted', config('mine', { revision: 'leaving' }), null, /^none$/],
    [
      'whose revision is a tag',
      config('prod'),
      null,
      /^spec\.revision: .*RevisionTag prod takes the same pods, a tag that answers to revision prod/,
    ],
    [
      'with selectors of its own that could take the pods of others',
      config('mine', custom),
      null,
      /^spec\.webhook\.selection: .*give one of the two its own spec\.webhook\.keys/,
    ],
    [
      'that is the loser already, edited',
      config('mine', { revision: '1-24', paused: true }),
      config('mine', { revision: '1-24' }),
      /^none$/,
    ],
    ['that becomes the loser', config('1-25', custom), config('1-25'), /^spec\.webhook\.selection: /],
    ['on its way out', config('mine', { revision: '1-24' }, ready, { deletionTimestamp: 'now' }), null, /^none$/],
    ['that keeps its keys', stored[2]!, stored[2]!, /^none$/],
    [
      'with the host of another',
      at('a', 'https://outside.example.com:8443/a'),
      null,
      /^spec\.webhook\.url: .*InjectorConfig outside has the host outside\.example\.com too, .* give this one a host of its own/,
    ],
    ['with a host of its own', at('a', 'https://other.example.com'), null, /^none$/],
    ['with the host of another and the same certificate', at('a', 'https://shared.example.com', 'tls'), null, /^none$/],
    [
      'with the host of another and another certificate',
      at('a', 'https://shared.example.com', 'mine'),
      null,
      /^spec\.webhook\.url: .*InjectorConfig shared has/,
    ],
    [
      'that leaves the certificate that it shares',
      at('a', 'https://shared.example.com'),
      at('a', 'https://shared.example.com', 'tls'),
      /^spec\.webhook\.url: .*InjectorConfig shared has/,
    ],
    [
      'that has the host of another already, edited',
      at('a', 'https://outside.example.com/b'),
      at('a', 'https://outside.example.com'),
      /^none$/,
    ],
  ];
  for (const [what, object, old, mistake] of rows) {
    it(`${what}: ${String(mistake)}`, async () => {
      assert.match(await firstMistake(object, old), mistake);
    });
  }

  it('lets the default exist beside tag default, which stands in for it', async () => {
    assert.equal(await firstMistake(config('default'), null, [...stored, tag('default', '1-24')]), 'none');
  });
});
