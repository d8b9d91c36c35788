import assert from 'node:assert/strict';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import type { FailureReason, InjectionResult, SkipReason } from '../../inject/injection-result.ts';
import type { AdmissionDecision } from './admission-decision.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { decideInjection, type InjectionTarget, type PodSurroundings } from './inject-handler.ts';
import { podCreation, somePod } from '../testdata/reviews.ts';
import { someInjector } from '../testdata/some-injector.ts';

const target: InjectionTarget = {
  name: 'default',
  hash: '0a1b2c3d',
  injector: someInjector,
  path: '/inject',
  annotate: true,
};
const injector = { name: 'default', hash: '0a1b2c3d' };
const injectedPod = { ...somePod, metadata: { ...somePod.metadata, annotations: { 'sidecar.istio.io/status': '{}' } } };
const enginePatch = [{ op: 'add' as const, path: '/metadata/annotations', value: { 'sidecar.istio.io/status': '{}' } }];
const injected: InjectionResult = { outcome: 'injected', pod: injectedPod, patch: enginePatch, warnings: ['a word'] };

function decide(result: InjectionResult, changes: Partial<AdmissionRequest> = {}, annotate = true): AdmissionDecision {
  return decideInjection({ ...target, annotate }, podCreation(changes), {}, () => result);
}

const never = (): never => {
  throw new Error('the engine must not be asked');
};

describe('decideInjection', () => {
  const mark = { op: 'add', path: '/metadata/annotations/sidecar-injector.io~1config', value: 'default.0a1b2c3d' };
  const audit = { revision: 'default', config: '0a1b2c3d', outcome: 'injected', reason: 'Injected' };

  it("adds the configuration's name to the engine's patch", () => {
    assert.deepEqual(decide(injected), {
      outcome: 'injected',
      reason: 'Injected',
      allowed: true,
      patch: [...enginePatch, mark],
      warnings: ['a word'],
      auditAnnotations: audit,
      injector,
    });
  });

  it("leaves the engine's patch alone where pods are not to be marked", () => {
    assert.deepEqual(decide(injected, {}, false).patch, enginePatch);
  });

  it('answers a dry run no differently', () => {
    assert.deepEqual(decide(injected, { dryRun: true }), decide(injected));
  });

  it('injects what a review without a resource sends', () => {
    assert.equal(decide(injected, { resource: undefined }).outcome, 'injected');
  });

  it('changes nothing when the pod is as it should be', () => {
    const pod = { ...somePod, metadata: { annotations: { 'sidecar-injector.io/config': 'default.0a1b2c3d' } } };
    assert.deepEqual(decide({ outcome: 'injected', pod, patch: [], warnings: [] }).patch, []);
  });

  it('gives the engine the pod and its surroundings', () => {
    const asked: InjectionRequest[] = [];
    const surroundings: PodSurroundings = {
      nodes: () => [{ name: 'n', kubeletVersion: 'v1.36.0' }],
      namespaceMetadata: (namespace) => ({ labels: { namespace } }),
      proxyConfigs: (namespace) => [{ metadata: { name: 'p', namespace }, spec: {} }],
    };
    const inject = (_: unknown, request: InjectionRequest): InjectionResult => {
      asked.push(request);
      return injected;
    };
    decideInjection(target, podCreation(), surroundings, inject);
    decideInjection(target, podCreation(), {}, inject);
    const bare = { pod: somePod, namespace: 'shop', path: '/inject' };
    assert.deepEqual(asked, [
      {
        ...bare,
        nodes: [{ name: 'n', kubeletVersion: 'v1.36.0' }],
        namespaceMetadata: { labels: { namespace: 'shop' } },
        proxyConfigs: [{ metadata: { name: 'p', namespace: 'shop' }, spec: {} }],
      },
      bare,
    ]);
  });

  describe('what is not the creation of a pod is allowed unchanged, with a warning', () => {
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
        assert.equal(decision.allowed, true);
        assert.equal(decision.reason, reason);
        assert.equal(decision.patch, undefined);
        assert.deepEqual(decision.warnings, [
          `not injected: only CREATE of pods is; narrow the rules of the webhook, which sent ${what}`,
        ]);
      });
    }
  });

  for (const object of [null, 'pod', 5, [], true]) {
    it(`refuses ${JSON.stringify(object)} as a pod`, () => {
      const decision = decideInjection(target, podCreation({ object }), {}, never);
      assert.equal(decision.allowed, false);
      assert.equal(decision.outcome, 'failed');
      assert.deepEqual(decision.status, {
        code: 400,
        reason: 'BadRequest',
        message: 'request.object must be a pod: a JSON object',
        causes: [],
      });
    });
  }

  describe('a pod that is left alone', () => {
    const expected: Record<SkipReason, string[]> = {
      HostNetwork: ['not injected by default: because', 'a word'],
      IgnoredNamespace: ['not injected by default: because', 'a word'],
      NeverInjectSelector: ['not injected by default: because', 'a word'],
      PolicyDisabled: ['not injected by default: because', 'a word'],
      PolicyUnknown: ['not injected by default: because', 'a word'],
      OptedOutByLabel: ['a word'],
      OptedOutByAnnotation: ['a word'],
    };
    for (const [reason, warnings] of Object.entries(expected)) {
      it(`${reason}: ${warnings.length} warnings`, () => {
        const skipped = {
          outcome: 'skipped',
          reason: reason as SkipReason,
          message: 'because',
          warnings: ['a word'],
        } as const;
        assert.deepEqual(decide(skipped), {
          outcome: 'skipped',
          reason,
          allowed: true,
          warnings,
          auditAnnotations: { revision: 'default', config: '0a1b2c3d', outcome: 'skipped', reason },
          injector,
        });
      });
    }
  });

  describe('a pod that cannot be injected is refused', () => {
    const expected: Record<FailureReason, number> = {
      InvalidPod: 400,
      InvalidAnnotation: 422,
      AnnotationNotAllowed: 422,
      UnsafeAnnotation: 422,
      InvalidProxyConfig: 422,
      InvalidOverrides: 422,
      UnknownTemplate: 422,
      InvalidPrometheusConfiguration: 422,
      TemplateFailed: 500,
      TemplateLimit: 500,
      InvalidTemplateOutput: 500,
      Internal: 500,
    };
    for (const [reason, code] of Object.entries(expected)) {
      it(`${reason}: ${code}`, () => {
        const decision = decide({ outcome: 'failed', reason: reason as FailureReason, message: 'because' });
        assert.equal(decision.allowed, false);
        assert.equal(decision.outcome, 'failed');
        assert.equal(decision.status?.code, code);
        assert.equal(decision.status.message, 'because');
        assert.equal(decision.patch, undefined);
        assert.deepEqual(decision.auditAnnotations, {
          revision: 'default',
          config: '0a1b2c3d',
          outcome: 'failed',
          reason,
        });
      });
    }
  });
});
