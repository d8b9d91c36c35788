import assert from 'node:assert/strict';
import type { AdmissionRequest } from '../../server/admission-request.ts';
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

const sidecar = (text: string) => ({ injection: { templates: { sidecar: text } } });

describe('the review of an InjectorConfig', () => {
  it('lets a good one pass without a word', () => {
    assert.deepEqual(validateReview(creation(sidecar('spec: {}'))), { mistakes: [], warnings: [] });
  });

  it('refuses what breaks the schema, and what breaks a rule between fields', () => {
    const field = (spec: unknown): string | undefined => validateReview(creation(spec)).mistakes[0]?.field;
    assert.equal(field({ webhook: { timeoutSeconds: 31 } }), 'spec.webhook.timeoutSeconds');
    assert.equal(field({ injection: { templates: { other: '' } } }), 'spec.injection.defaultTemplates');
  });

  it('warns of a template that does not compile, with the line', () => {
    const { mistakes, warnings } = validateReview(creation(sidecar('spec:\n  {{ if }}')));
    assert.deepEqual(mistakes, []);
    assert.match(warnings?.join() ?? '', /^not published: .*templates\.sidecar.*line 2/s);
  });

  it('leaves what it cannot read to the operator', () => {
    const valuesFrom = { namespace: 'a', name: 'b', key: 'c' };
    const spec = { injection: { templates: { sidecar: '{{ if }}' }, valuesFrom } };
    assert.deepEqual(validateReview(creation(spec)), { mistakes: [], warnings: [] });
  });

  it('has nothing against a deletion', () => {
    assert.deepEqual(validateReview({ ...creation({}), operation: 'DELETE', object: null }), { mistakes: [] });
  });
});
