import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../server/admission/admission-decision.ts';
import { loadInjector } from '../../inject/injector.ts';
import { TagTargets } from '../../operator/tags/tag-targets.ts';
import { validateReview } from './validate-review.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';

/** Returns the creation of InjectorConfig `trial` with a spec. */
function creation(spec: unknown): AdmissionRequest {
  return {
    uid: 'a',
    resource: 'injectorconfigs.sidecar-injector.io',
    subResource: '',
    name: 'trial',
    namespace: '',
    operation: 'CREATE',
    dryRun: false,
    object: { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata: { name: 'trial' }, spec },
    oldObject: null,
  };
}

const validate = (request: AdmissionRequest) =>
  validateReview((files) => Promise.resolve().then(() => loadInjector(files)), request);

const sidecar = (text: string) => ({ injection: { templates: { sidecar: text } } });

describe('the review of an InjectorConfig', () => {
  it('accepts a valid InjectorConfig without warnings', async () => {
    assert.deepEqual(await validate(creation(sidecar('spec: {}'))), { mistakes: [], warnings: [] });
  });

  it('refuses violations of the schema and of rules between fields', async () => {
    const field = async (spec: unknown): Promise<string | undefined> =>
      (await validate(creation(spec))).mistakes[0]?.field;
    assert.equal(await field({ webhook: { timeoutSeconds: 31 } }), 'spec.webhook.timeoutSeconds');
    assert.equal(await field({ injection: { templates: { one: '', two: '' } } }), 'spec.injection.defaultTemplates');
  });

  it('warns about a template that does not compile, with the line', async () => {
    const { mistakes, warnings } = await validate(creation(sidecar('spec:\n  {{ if }}')));
    assert.deepEqual(mistakes, []);
    assert.match(warnings?.join() ?? '', /^not published: .*templates\.sidecar.*line 2/s);
  });

  it('only warns when the trial fails or takes too long', async () => {
    const request = creation(sidecar('spec: {}'));
    const failing = await validateReview(() => Promise.reject(new Error('no process')), request);
    assert.deepEqual(failing, { mistakes: [], warnings: ['not published yet: no process'] });
    const late = await validateReview(() => new Promise(() => undefined), request);
    assert.deepEqual(late, {
      mistakes: [],
      warnings: ['not published yet: the trial takes longer than 2 s; see condition TemplatesValid later'],
    });
  });

  it('does not compile an InjectorConfig with references', async () => {
    const valuesFrom = { namespace: 'a', name: 'b', key: 'c' };
    const spec = { injection: { templates: { sidecar: '{{ if }}' }, valuesFrom } };
    assert.deepEqual(await validate(creation(spec)), { mistakes: [], warnings: [] });
  });

  it('accepts the deletion of an unused InjectorConfig', async () => {
    const { object } = creation({});
    const deletion = { ...creation({}), operation: 'DELETE', object: null } as const;
    assert.deepEqual(await validate({ ...deletion, oldObject: object }), { mistakes: [] });
    assert.deepEqual(await validate(deletion), { mistakes: [] });
  });

  it('refuses to delete a used InjectorConfig, and lists users from its status and from tags', async () => {
    const status = { namespaces: { count: 1, names: ['shop'] } };
    const oldObject = { ...(creation({}).object as object), status };
    const deletion = { ...creation({}), operation: 'DELETE', object: null, oldObject } as const;
    const tag = {
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'RevisionTag',
      metadata: { name: 'prod' },
      spec: { revision: 'trial' },
    };
    const configs = { list: () => [oldObject as never] };
    const sources = { configs, tags: { list: () => [tag] }, targetOf: () => undefined };
    const known = { targets: new TagTargets(sources, 'default'), synced: true };
    const { inUse } = await validateReview(() => Promise.reject(new Error('unused')), deletion, known);
    assert.match(inUse ?? '', /^InjectorConfig trial is in use: 1 RevisionTag points to it \(prod\); 1 namespace/);
  });
});

const apiVersion = 'sidecar-injector.io/v1alpha1';
const ready = { conditions: [condition('True', 'Serving', 'serving')] };

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
/** Returns an InjectorConfig with a url, and optionally with the certificate of a Secret. */
function at(name: string, url: string, secret?: string): KubernetesObject {
  const certificate = secret === undefined ? {} : { certificate: { provider: 'Secret', secretRef: { name: secret } } };
  return config(name, { webhook: { url }, ...certificate });
}

const [outside, shared] = ['https://outside.example.com', 'https://shared.example.com'] as const;
const prod = tag('prod', '1-24', {}, { injectorConfig: '1-24' });
const stored: KubernetesObject[] = [
  at('outside', outside),
  at('shared', shared, 'tls'),
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

/** Reviews an object next to stored objects. Returns the first mistake, or else the warnings. */
async function review(object: KubernetesObject, oldObject: unknown = null, objects = stored): Promise<string> {
  const list = (kind: string) => ({ list: () => objects.filter((each) => each.kind === kind) });
  const tags = list('RevisionTag');
  const targetOf = (name: string): string | undefined => {
    const found = tags.list().find(({ metadata }) => metadata.name === name);
    return (found?.status as { injectorConfig?: string } | undefined)?.injectorConfig;
  };
  const targets = new TagTargets({ configs: list('InjectorConfig'), tags, targetOf }, 'default');
  const request = {
    uid: 'a',
    resource: `${object.kind.toLowerCase()}s.sidecar-injector.io`,
    subResource: '',
    name: object.metadata.name ?? '',
    namespace: '',
    operation: oldObject === null ? 'CREATE' : 'UPDATE',
    dryRun: false,
    object,
    oldObject,
  } as const;
  const load = (files: Parameters<typeof loadInjector>[0]) => Promise.resolve().then(() => loadInjector(files));
  const { mistakes, warnings = [] } = await validateReview(load, request, { targets, synced: true });
  if (mistakes[0] !== undefined) return `${mistakes[0].field}: ${mistakes[0].message}`;
  return warnings.length === 0 ? 'none' : `warning: ${warnings.join('; ')}`;
}

describe('the review of a RevisionTag', () => {
  const unknown =
    /^warning: RevisionTag canary waits until revision 1-26 is Ready; until then, pods that follow it get no sidecar; spec\.revision 1-26: .*\(existing names: 1-24, 1-25, .*\); create it, or name another one$/;
  const unknownMove =
    /^warning: RevisionTag prod waits until revision 1-26 is Ready; until then, pods that follow it get revision 1-24; spec\.revision 1-26: /;
  const ofAnotherClass = /^warning: .*no InjectorConfig of operator class default/;
  const notReady =
    /^warning: .*get no sidecar; InjectorConfig unready is not ready \(WaitingForReplicas: a replica is missing\)$/;
  const otherKeys = /^spec\.revision: .*other spec\.webhook\.keys than InjectorConfig 1-24/;
  const sameName =
    /^metadata\.name: metadata\.name: InjectorConfig 1-25 selects the same pods, its revision is 1-25; give the tag another name$/;
  const rollout = { strategy: { canary: { steps: [{ weight: 5 }] } } };
  const rows: [title: string, object: KubernetesObject, mistake: RegExp, old?: KubernetesObject][] = [
    ['for a ready revision', tag('canary', '1-25'), /^none$/],
    ['named default for a ready revision', tag('default', '1-25'), /^none$/],
    ['with an invalid spec', tag('canary', 'NO'), /^spec\.revision: RevisionTag canary/],
    ['that breaks a rule', tag('canary', 'canary'), /^spec\.revision: .*own name/],
    ['for an unknown revision', tag('canary', '1-26'), unknown],
    ['for a revision of another class', tag('canary', 'elsewhere'), ofAnotherClass],
    ['for a revision that is being deleted', tag('canary', 'leaving'), /^warning: .*no InjectorConfig/],
    ['for another tag', tag('canary', 'prod'), /^spec\.revision: .*no InjectorConfig/],
    ['for revision default before it exists', tag('canary', 'default'), /^warning: .*no InjectorConfig/],
    ['named default for an unknown revision', tag('default', '1-26'), /^warning: .*get no sidecar/],
    ['for a revision that is not ready', tag('canary', 'unready'), notReady],
    ['for a revision while replicas load an edit', tag('canary', 'edited'), /^warning: /],
    ['for a paused revision', tag('canary', 'paused'), /^warning: .*paused \(spec\.paused\)/],
    ['for custom selectors', tag('canary', 'custom'), /^spec\.revision: .*selection Custom/],
    ['that moves to another family', tag('prod', 'logs'), otherKeys, prod],
    ['that moves to a ready revision', tag('prod', '1-25'), /^none$/, prod],
    ['that moves to an unknown revision', tag('prod', '1-26'), unknownMove, prod],
    ['that rolls out an unknown revision', tag('prod', '1-26', rollout), unknownMove, prod],
    ['that rolls out a revision of another family', tag('prod', 'logs', rollout), otherKeys, prod],
    ['that rolls out custom selectors', tag('prod', 'custom', rollout), /^spec\.revision: .*selection Custom/, prod],
    ['that keeps its unknown target', tag('prod', '1-26'), /^none$/, tag('prod', '1-26')],
    ['with the name of a revision', tag('1-25', '1-24'), sameName],
    ['with the name of a revision, for an unknown revision', tag('1-25', '1-26'), sameName],
    ['with the name of a revision of another family, for an unknown one', tag('logs', '1-26'), /^warning: /],
    ['with the name of a revision of another family', tag('logs', '1-24'), /^none$/],
  ];
  for (const [title, object, mistake, old] of rows) {
    it(`${/^\^(none|warning)/.test(mistake.source) ? 'accepts' : 'refuses'} a tag ${title}`, async () => {
      assert.match(await review(object, old), mistake);
    });
  }

  it('refuses a tag if custom selectors could match its pods', async () => {
    const objects = [...stored, config('wide', { webhook: { selection: 'Custom', objectSelector: {} } })];
    const wide = /^metadata\.name: .*InjectorConfig wide selects the same pods with its own selectors; change its/;
    assert.match(await review(tag('canary', '1-25'), null, objects), wide);
  });
});

describe('the review of an InjectorConfig next to other objects', () => {
  const same = { revision: '1-24' };
  const overlapsConfig =
    /^spec\.revision: .*InjectorConfig 1-24 selects the same pods, its revision is 1-24; choose another revision/;
  const overlapsTag = /^spec\.revision: .*RevisionTag prod selects the same pods, its name is the revision prod/;
  const wider = /^spec\.webhook\.selection: .*give one of the two separate spec\.webhook\.keys/;
  const ownHost =
    /^spec\.webhook\.url: .*InjectorConfig outside has the host outside\.example\.com too, .* use another host here/;
  const sharedHost = /^spec\.webhook\.url: .*InjectorConfig shared has/;
  const rows: [title: string, object: KubernetesObject, mistake: RegExp, old?: KubernetesObject][] = [
    ['with a unique revision', config('1-26'), /^none$/],
    ['with the revision of another object', config('mine', same), overlapsConfig],
    ['with a revision of another family', config('mine', { revision: '1-24', webhook: logs }), /^none$/],
    ['with the revision of a deleted object', config('mine', { revision: 'leaving' }), /^none$/],
    ['whose revision is a tag', config('prod'), overlapsTag],
    ['with custom selectors that could match other pods', config('mine', custom), wider],
    ['that already yields and is edited', config('mine', { ...same, paused: true }), /^none$/, config('mine', same)],
    ['that would yield after the edit', config('1-25', custom), /^spec\.webhook\.selection: /, config('1-25')],
    ['that is being deleted', config('mine', same, ready, { deletionTimestamp: 'now' }), /^none$/],
    ['that keeps its keys', stored[2]!, /^none$/, stored[2]!],
    ['with the host of another object', at('a', `${outside}:8443/a`), ownHost],
    ['with a unique host', at('a', 'https://other.example.com'), /^none$/],
    ['with the host and certificate of another object', at('a', shared, 'tls'), /^none$/],
    ['with a shared host but another certificate', at('a', shared, 'mine'), sharedHost],
    ['that no longer uses the shared certificate', at('a', shared), sharedHost, at('a', shared, 'tls')],
    ['that already has a shared host and is edited', at('a', `${outside}/b`), /^none$/, at('a', outside)],
  ];
  for (const [title, object, mistake, old] of rows) {
    it(`${mistake.source === '^none$' ? 'accepts' : 'refuses'} an InjectorConfig ${title}`, async () => {
      assert.match(await review(object, old), mistake);
    });
  }

  it('accepts InjectorConfig default next to tag default, which replaces it', async () => {
    assert.equal(await review(config('default'), null, [...stored, tag('default', '1-24')]), 'none');
    const waits = await review(tag('default', '1-26'), null, [...stored, config('default')]);
    assert.match(waits, /^warning: .*follow it get revision default; /);
  });

  it('refuses a revision with the name of a tag that waits for its revision', async () => {
    const waiting = /^spec\.revision: .*RevisionTag waiting selects the same pods/;
    assert.match(await review(config('waiting'), null, [...stored, tag('waiting', '1-26')]), waiting);
  });
});
