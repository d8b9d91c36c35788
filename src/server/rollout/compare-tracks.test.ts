import assert from 'node:assert/strict';
import type { InjectionResult } from '../../inject/injection-result.ts';
import type { AdmissionRequest } from '../admission/admission-decision.ts';
import type { InjectPod } from '../admission/inject-handler.ts';
import { podCreation, somePod } from '../testdata/reviews.ts';
import { loadInjector } from '../../inject/injector.ts';
import { brokenInjector, canaryInjector, stableInjector } from '../testdata/rollout-injectors.ts';
import { compareTracks, type Comparison } from './compare-tracks.ts';

const shared = { hash: '00000000', path: '/inject', annotate: true };

function compare(
  canary = canaryInjector,
  changes: Partial<AdmissionRequest> = {},
  inject?: InjectPod,
  stable = stableInjector,
): Comparison | undefined {
  const targets = {
    stable: { name: 'old', injector: stable, ...shared },
    canary: { name: 'new', injector: canary, ...shared },
  };
  return compareTracks(targets, podCreation(changes), {}, inject);
}

describe('compareTracks', () => {
  it('returns the fields that the canary changes', () => {
    assert.deepEqual(compare(), { outcome: 'changed', fields: ['spec.containers[hello].image'] });
    assert.deepEqual(compare(stableInjector), { outcome: 'same' });
  });

  it('does not count records of the injection, or labels and annotations that only name the revision', () => {
    const keys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
    const labels = '{logs/rev: "{{ .Revision }}", app: "{{ .Revision }}"}';
    const config = `policy: enabled\ndefaultTemplates: [a]\ntemplates:\n  a: |\n    metadata: {labels: ${labels}}`;
    const named = (revision: string, text = config) => {
      const settings = JSON.stringify({ ...JSON.parse(stableInjector.files.settings), revision, keys });
      return loadInjector({ ...stableInjector.files, settings, config: text });
    };
    const silent = config.replace(', app: "{{ .Revision }}"', '');
    assert.deepEqual(compare(named('new', silent), {}, undefined, named('old', silent)), { outcome: 'same' });
    const fields = ['metadata.labels.app'];
    assert.deepEqual(compare(named('new'), {}, undefined, named('old')), { outcome: 'changed', fields });
    const other = ['metadata.labels[logs/rev]'];
    const edited = compare(named('new', silent), {}, undefined, named('old', silent.replace('{{ .Revision }}', 'x')));
    assert.deepEqual(edited, { outcome: 'changed', fields: other });
  });

  it('returns the reason why the canary refuses a pod', () => {
    const comparison = compare(brokenInjector);
    assert.equal(comparison?.outcome, 'failed');
    assert.match(comparison.error, /^TemplateFailed: .*no such mesh/s);
  });

  it('returns undefined if the request does not create a pod', () => {
    for (const changes of [{ operation: 'UPDATE' }, { resource: 'configmaps' }, { object: 'pod' }] as const) {
      assert.equal(compare(brokenInjector, changes), undefined);
    }
  });

  const injected: InjectionResult = { outcome: 'injected', pod: { ...somePod, a: 1 }, patch: [], warnings: [] };
  const skipped: InjectionResult = { outcome: 'skipped', reason: 'PolicyDisabled', message: '', warnings: [] };
  const failed: InjectionResult = { outcome: 'failed', reason: 'InvalidAnnotation', message: 'because' };
  const cases: [InjectionResult, InjectionResult, Comparison][] = [
    [injected, injected, { outcome: 'same' }],
    [skipped, skipped, { outcome: 'same' }],
    [injected, skipped, { outcome: 'changed', fields: ['(injected → skipped)', 'a'] }],
    [skipped, injected, { outcome: 'changed', fields: ['(skipped → injected)', 'a'] }],
    [failed, injected, { outcome: 'changed', fields: ['(failed → injected)', 'a'] }],
    [injected, failed, { outcome: 'failed', error: 'InvalidAnnotation: because' }],
    [skipped, failed, { outcome: 'failed', error: 'InvalidAnnotation: because' }],
    // The pod's author must fix this mistake.
    [failed, failed, { outcome: 'same' }],
  ];
  for (const [before, after, expected] of cases) {
    it(`returns ${expected.outcome} if stable is ${before.outcome} and the canary is ${after.outcome}`, () => {
      const inject: InjectPod = (injector) => (injector === stableInjector ? before : after);
      assert.deepEqual(compare(canaryInjector, {}, inject), expected);
    });
  }
});
