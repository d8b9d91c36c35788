import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import type { FailureReason, InjectionResult, SkipReason } from '../../inject/injection-result.ts';
import type { AdmissionDecision, AdmissionRequest } from './admission-decision.ts';
import { decideInjection, type InjectionTarget, type Surroundings } from './inject-handler.ts';
import { podCreation, somePod } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';

const injector = { name: 'default', hash: '0a1b2c3d' };
const target: InjectionTarget = { ...injector, injector: someInjector, path: '/inject', annotate: true };
const { name: revision, hash: config } = injector;
const auditOf = (outcome: string, reason: string) => ({ revision, config, outcome, reason });
const injectedPod = { ...somePod, metadata: { ...somePod.metadata, annotations: { 'sidecar.istio.io/status': '{}' } } };
const enginePatch = [{ op: 'add' as const, path: '/metadata/annotations', value: { 'sidecar.istio.io/status': '{}' } }];
const injected: InjectionResult = { outcome: 'injected', pod: injectedPod, patch: enginePatch, warnings: ['a word'] };

function decide(result: InjectionResult, changes: Partial<AdmissionRequest> = {}, annotate = true): AdmissionDecision {
  return decideInjection({ ...target, annotate }, podCreation(changes), {}, () => result);
}

const never = (): never => {
  throw new Error('the engine must not be called');
};

describe('decideInjection', () => {
  const mark = { op: 'add', path: '/metadata/annotations/sidecar-injector.io~1config', value: 'default.0a1b2c3d' };

  it("adds the configuration annotation to the engine's patch", () => {
    assert.deepEqual(decide(injected), {
      outcome: 'injected',
      reason: 'Injected',
      allowed: true,
      patch: [...enginePatch, mark],
      warnings: ['a word'],
      auditAnnotations: auditOf('injected', 'Injected'),
      injector,
    });
  });

  it("does not change the engine's patch if the target adds no annotation", () => {
    assert.deepEqual(decide(injected, {}, false).patch, enginePatch);
  });

  it('gives the same answer to a dry run, and to a review without a resource', () => {
    for (const changes of [{ dryRun: true }, { resource: undefined }])
      assert.deepEqual(decide(injected, changes), decide(injected));
  });

  it('returns an empty patch if the pod is already injected', () => {
    const pod = { ...somePod, metadata: { annotations: { 'sidecar-injector.io/config': 'default.0a1b2c3d' } } };
    assert.deepEqual(decide({ outcome: 'injected', pod, patch: [], warnings: [] }).patch, []);
  });

  it('warns if an injected container keeps a Job from completing', () => {
    const metadata = { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'import', controller: true }] };
    const podOf = (...names: string[]) => ({ metadata, spec: { containers: names.map((name) => ({ name })) } });
    const warningsFor = (...names: string[]) => {
      const result: InjectionResult = { outcome: 'injected', pod: podOf(...names), patch: [], warnings: [] };
      return decideInjection(target, podCreation({ object: podOf('app') }), {}, () => result).warnings;
    };
    assert.deepEqual(warningsFor('app'), []);
    assert.match(warningsFor('proxy', 'app')?.join() ?? '', /^spec\.containers\[proxy\]: .* native sidecar/);
  });

  it('passes the pod and the surroundings to the engine', () => {
    const requests: InjectionRequest[] = [];
    const surroundings: Surroundings = {
      nodes: [{ name: 'n', kubeletVersion: 'v1.36.0' }],
      proxyConfigs: [{ metadata: { name: 'p', namespace: 'shop' }, spec: {} }],
    };
    const inject = (_: unknown, request: InjectionRequest): InjectionResult => {
      requests.push(request);
      return injected;
    };
    const namespaceMetadata = { annotations: { 'openshift.io/sa.scc.uid-range': '1000/10' } };
    const namespaces = new Map([['shop', namespaceMetadata]]);
    decideInjection(target, podCreation(), surroundings, inject);
    decideInjection(target, podCreation(), {}, inject);
    decideInjection(target, podCreation(), { namespaces }, inject);
    decideInjection(target, podCreation({ namespace: 'other' }), { namespaces }, inject);
    const bare = { pod: somePod, namespace: 'shop', path: '/inject' };
    const other = { ...bare, namespace: 'other' };
    assert.deepEqual(requests, [{ ...bare, ...surroundings }, bare, { ...bare, namespaceMetadata }, other]);
  });

  describe('allows requests that do not create a pod, with a warning:', () => {
    for (const [changes, reason, what] of [
      [{ operation: 'UPDATE' }, 'NotACreation', 'UPDATE pods'],
      [{ operation: 'DELETE', object: null }, 'NotACreation', 'DELETE pods'],
      [{ operation: 'CONNECT', subResource: 'exec' }, 'SubResource', 'CONNECT pods/exec'],
      [{ subResource: 'binding' }, 'SubResource', 'CREATE pods/binding'],
      [{ resource: 'deployments.apps' }, 'NotAPod', 'CREATE deployments.apps'],
      [{ resource: 'pods.metrics.k8s.io' }, 'NotAPod', 'CREATE pods.metrics.k8s.io'],
    ] as const) {
      it(what, () => {
        const decision = decideInjection(target, podCreation(changes), {}, never);
        const warning = `not injected: only CREATE of pods is supported; remove ${what} from the rules of the webhook`;
        assert.deepEqual(decision, {
          outcome: 'allowed',
          reason,
          allowed: true,
          warnings: [warning],
          auditAnnotations: auditOf('allowed', reason),
        });
      });
    }
  });

  for (const object of [null, 'pod', 5, [], true]) {
    it(`refuses ${JSON.stringify(object)} as a pod`, () => {
      const { allowed, outcome, status } = decideInjection(target, podCreation({ object }), {}, never);
      assert.deepEqual([allowed, outcome], [false, 'failed']);
      const message = 'request.object must be a pod: a JSON object';
      assert.deepEqual(status, { code: 400, reason: 'BadRequest', message, causes: [] });
    });
  }

  describe('warns about a pod that is not injected, unless its author opted out', () => {
    const warned = ['not injected by default: because', 'a word'];
    const expected: Record<SkipReason, string[]> = {
      HostNetwork: warned,
      WindowsPod: warned,
      IgnoredNamespace: warned,
      NeverInjectSelector: warned,
      PolicyDisabled: warned,
      PolicyUnknown: warned,
      OptedOutByLabel: ['a word'],
      OptedOutByAnnotation: ['a word'],
    };
    for (const [name, warnings] of Object.entries(expected)) {
      it(`${name}: ${warnings === warned ? 'warns' : 'does not warn'}`, () => {
        const [outcome, reason] = ['skipped' as const, name as SkipReason];
        const decision = decide({ outcome, reason, message: 'because', warnings: ['a word'] });
        const auditAnnotations = auditOf(outcome, reason);
        assert.deepEqual(decision, { outcome, reason, allowed: true, warnings, auditAnnotations, injector });
      });
    }
  });

  describe('refuses a pod that cannot be injected', () => {
    const expected: Record<FailureReason, number> = {
      InvalidPod: 400,
      InvalidAnnotation: 422,
      AnnotationNotAllowed: 422,
      UnsafeAnnotation: 422,
      SameName: 422,
      InvalidProxyConfig: 422,
      InvalidOverrides: 422,
      UnknownTemplate: 422,
      InvalidPrometheusConfiguration: 422,
      InjectionFailing: 500,
      TemplateFailed: 500,
      TemplateLimit: 500,
      InvalidTemplateOutput: 500,
      Internal: 500,
    };
    const failing =
      'InjectionFailing: InjectorConfig default cannot inject this pod, nor the pod with harmless annotations and labels; the platform team must correct because';
    for (const [name, code] of Object.entries(expected)) {
      it(`with code ${code} for ${name}`, () => {
        const [outcome, reason, message] = ['failed' as const, name as FailureReason, 'because'];
        const { allowed, status, patch, ...decision } = decide({ outcome, reason, message });
        const said = name === 'InjectionFailing' ? failing : message;
        assert.deepEqual([allowed, status?.code, status?.message, patch], [false, code, said, undefined]);
        assert.deepEqual(decision, { outcome, reason, auditAnnotations: auditOf(outcome, reason), injector });
      });
    }

    it('and the alerts distinguish who must act', () => {
      const own = Object.keys(expected).filter((name) => expected[name as FailureReason] === 500);
      const listed = [...own, 'TooMuchMemory', 'TooSlow'].sort().join('|');
      const alerts = readFileSync('charts/injector-operator/files/alerts.yaml', 'utf8');
      const found = [...alerts.matchAll(/outcome="failed", reason(=|!)~"(.*)"/g)].map(([, ...parts]) => parts);
      assert.deepEqual(found, [
        ['=', listed],
        ['!', listed],
      ]);
    });
  });
});
