import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../server/admission/admission-request.ts';
import { loadInjector } from '../../inject/injector.ts';
import { TagTargets } from '../../operator/tags/tag-targets.ts';
import { validateReview } from './validate-review.ts';

/** The creation of InjectorConfig `trial` with this spec. */
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
  it('lets a good one pass without a word', async () => {
    assert.deepEqual(await validate(creation(sidecar('spec: {}'))), { mistakes: [], warnings: [] });
  });

  it('refuses what breaks the schema, and what breaks a rule between fields', async () => {
    const field = async (spec: unknown): Promise<string | undefined> =>
      (await validate(creation(spec))).mistakes[0]?.field;
    assert.equal(await field({ webhook: { timeoutSeconds: 31 } }), 'spec.webhook.timeoutSeconds');
    assert.equal(await field({ injection: { templates: { other: '' } } }), 'spec.injection.defaultTemplates');
  });

  it('warns of a template that does not compile, with the line', async () => {
    const { mistakes, warnings } = await validate(creation(sidecar('spec:\n  {{ if }}')));
    assert.deepEqual(mistakes, []);
    assert.match(warnings?.join() ?? '', /^not published: .*templates\.sidecar.*line 2/s);
  });

  it('warns of what could not be tried, or not in time, and refuses nothing', async () => {
    const request = creation(sidecar('spec: {}'));
    const failing = await validateReview(() => Promise.reject(new Error('no process')), request);
    assert.deepEqual(failing, { mistakes: [], warnings: ['not published yet: no process'] });
    const late = await validateReview(() => new Promise(() => undefined), request);
    assert.deepEqual(late, {
      mistakes: [],
      warnings: ['not published yet: trying it takes longer than 2 s; the condition TemplatesValid will say more'],
    });
  });

  it('leaves what it cannot read to the operator', async () => {
    const valuesFrom = { namespace: 'a', name: 'b', key: 'c' };
    const spec = { injection: { templates: { sidecar: '{{ if }}' }, valuesFrom } };
    assert.deepEqual(await validate(creation(spec)), { mistakes: [], warnings: [] });
  });

  it('has nothing against the deletion of what nobody uses', async () => {
    const { object } = creation({});
    const deletion = { ...creation({}), operation: 'DELETE', object: null } as const;
    assert.deepEqual(await validate({ ...deletion, oldObject: object }), { mistakes: [] });
    assert.deepEqual(await validate(deletion), { mistakes: [] });
  });

  it('says who uses what is to be deleted, by its status and by tags', async () => {
    const status = { namespaces: { count: 1, names: ['shop'] } };
    const oldObject = { ...(creation({}).object as object), status };
    const deletion = { ...creation({}), operation: 'DELETE', object: null, oldObject } as const;
    const tag = {
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'RevisionTag',
      metadata: { name: 'prod' },
      spec: { revision: 'trial' },
    };
    const sources = {
      configs: { list: () => [oldObject as never] },
      tags: { list: () => [tag] },
      targetOf: () => undefined,
    };
    const known = { targets: new TagTargets(sources, 'default'), synced: true };
    const { inUse } = await validateReview(() => Promise.reject(new Error('unused')), deletion, known);
    assert.match(inUse ?? '', /^InjectorConfig trial is in use: 1 RevisionTag leads to it \(prod\); 1 namespace/);
  });
});
