import assert from 'node:assert/strict';
import type { JsonObject } from '../patch/json-value.ts';
import { dryRunPod, invalidPods, isTemporary, type JudgedPod, judgedPod, verdictOf } from './dry-run.ts';
import { typicalPods } from './typical-pods.ts';

const place = { namespace: 'injection', injectKey: 'example.com/inject' };
const fitted = (spec: JsonObject, metadata: JsonObject = {}): { metadata: JsonObject; spec: JsonObject } =>
  dryRunPod({ metadata, spec }, place) as { metadata: JsonObject; spec: JsonObject };
const oneContainer = (container: JsonObject): unknown =>
  (fitted({ containers: [container] }).spec.containers as unknown[])[0];

describe('dryRunPod', () => {
  it('omits what refers to another namespace, or belongs only to a stored pod', () => {
    const metadata = {
      name: 'web-1',
      namespace: 'shop',
      uid: 'u',
      labels: { app: 'web', 'example.com/inject': 'true' },
    };
    const owned = {
      ...metadata,
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'u' }],
      finalizers: ['a/b'],
    };
    const account = { serviceAccountName: 'web', serviceAccount: 'web', nodeName: 'node-1' };
    const priority = { priority: 7, priorityClassName: 'high', preemptionPolicy: 'Never' };
    const runtime = { runtimeClassName: 'gvisor', overhead: { cpu: '1' }, ephemeralContainers: [{ name: 'debug' }] };
    const pod = fitted({ ...account, ...priority, ...runtime, hostNetwork: false, restartPolicy: 'always' }, owned);
    assert.deepEqual(pod.spec, { hostNetwork: false, restartPolicy: 'always' });
    const labels = { app: 'web', 'example.com/inject': 'false' };
    const expected = { namespace: 'injection', generateName: 'sidecar-injector-trial-', labels, annotations: {} };
    assert.deepEqual(pod.metadata, { ...expected, finalizers: ['a/b'] });
  });

  it('replaces texts that may be secret, except empty ones and those that the API server validates', () => {
    const probe = { exec: { command: ['login', '--password=x'] } };
    const env = [
      { name: 'TOKEN', value: 's3cret', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'E', value: '' },
    ];
    const container = {
      name: 'a',
      command: ['run', ''],
      args: ['--key=s3cret'],
      env,
      livenessProbe: probe,
      image: 'i',
    };
    assert.deepEqual(oneContainer(container), {
      ...container,
      command: ['hidden', ''],
      args: ['hidden'],
      env: [{ ...env[0], value: 'hidden' }, env[1]],
      livenessProbe: { exec: { command: ['hidden', 'hidden'] } },
    });
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 's3cret', note: 'kept' };
    assert.deepEqual(fitted({}, { annotations }).metadata.annotations, { note: 'kept' });
  });

  const extended = { requests: { 'example.com/gpu': '1' } };
  const resources: [title: string, given: JsonObject, expected: JsonObject][] = [
    [
      'adds missing limits',
      { requests: { cpu: '1', memory: '2' } },
      { requests: { cpu: '1', memory: '2' }, limits: { cpu: '1', memory: '2' } },
    ],
    [
      'keeps limits, even invalid ones',
      { requests: { cpu: '2' }, limits: { cpu: '1' } },
      { requests: { cpu: '2' }, limits: { cpu: '1' } },
    ],
    ['adds no limit to resources that require one', extended, extended],
  ];
  for (const [title, given, expected] of resources) {
    it(`${title}, so that no LimitRange makes the pod invalid`, () => {
      assert.deepEqual(oneContainer({ name: 'a', resources: given }), { name: 'a', resources: expected });
    });
  }

  it('changes no typical pod in another way', () => {
    for (const { kind, pod } of typicalPods('example.com/inject')) {
      const { spec } = dryRunPod(pod, place) as { spec: { containers: JsonObject[]; volumes?: unknown } };
      const original = pod.spec as typeof spec;
      assert.deepEqual(spec.volumes, original.volumes, kind);
      const shape = ({ name, image, ports, volumeMounts }: JsonObject): unknown => [name, image, ports, volumeMounts];
      assert.deepEqual(spec.containers.map(shape), original.containers.map(shape), kind);
    }
  });
});

const failure = (code: number, reason: string, message = 'no', causes: { field?: string; message?: string }[] = []) =>
  judgedPod('a pod', { code, reason, message, causes });
const badImage = { field: 'spec.containers[1].image', message: 'Required value' };

describe('judgedPod', () => {
  const forbidden =
    'pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "injection"';
  const policy = `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: no`;
  const answers: [title: string, judged: JudgedPod, answer: JudgedPod['answer'], isTemporary?: boolean][] = [
    ['201', judgedPod('a pod'), 'Valid'],
    ['an invalid field', failure(422, 'Invalid', 'Pod "a" is invalid', [badImage]), 'Invalid'],
    [
      'a policy, whose default reason is Invalid',
      failure(422, 'Invalid', policy, [{ message: policy }]),
      'DryRunRefused',
    ],
    ['another reason with fields', failure(422, 'Other', 'no', [badImage]), 'DryRunRefused'],
    ['a missing right', failure(403, 'Forbidden', forbidden), 'DryRunForbidden', true],
    ['Pod Security', failure(403, 'Forbidden', 'pods "a" is forbidden: violates PodSecurity'), 'DryRunRefused'],
    ['a webhook without dry runs', failure(400, 'BadRequest', 'does not support dry run'), 'DryRunRefused'],
    ['a timeout', failure(0, 'Timeout'), 'DryRunUnanswered', true],
    ['too many requests', failure(429, 'TooManyRequests'), 'DryRunUnanswered', true],
    ['a webhook that does not answer', failure(500, 'InternalError'), 'DryRunUnanswered', true],
  ];
  for (const [title, judged, answer, temporary = false] of answers) {
    it(`reads ${title} as ${answer}`, () => {
      assert.equal(judged.answer, answer);
      assert.equal(isTemporary(judged.answer), temporary);
    });
  }

  it('names three fields at most, and bounds the message', () => {
    const causes = Array.from({ length: 9 }, (_, index) => ({ field: `spec.f${index}`, message: 'x'.repeat(300) }));
    const { message } = failure(422, 'Invalid', 'no', causes);
    assert.match(message, /^spec\.f0: x+; spec\.f1: x+$/);
    assert.ok(message.length <= 600);
  });
});

describe('verdictOf', () => {
  const of = (count: number, judged: JudgedPod): JudgedPod[] => Array.from({ length: count }, () => judged);
  const valid = judgedPod('a minimal pod');
  const invalid = failure(422, 'Invalid', 'no', [badImage]);
  const refused = failure(403, 'Forbidden', 'exceeded quota');
  const of11 = (count: number): string =>
    `the API server refuses ${count} of 11 injected pods, such as a pod: spec.containers[1].image: Required value`;
  const cases: [title: string, judged: JudgedPod[], isRefused: boolean, invalid: string[], unjudged?: string][] = [
    ['all valid', of(11, valid), false, []],
    ['all invalid', of(11, invalid), true, [of11(11)]],
    ['some invalid', [...of(10, invalid), valid], false, [of11(10)]],
    ['all judged ones invalid', [...of(10, invalid), refused], false, [of11(10)], 'DryRunRefused'],
    ['one without an answer', [failure(0, 'Timeout')], false, [], 'DryRunUnanswered'],
  ];
  for (const [title, judged, isRefused, texts, unjudged] of cases) {
    it(`sums up ${title}`, () => {
      const verdict = verdictOf(judged, 11);
      assert.deepEqual([verdict.isRefused, verdict.invalid, verdict.unjudged?.reason], [isRefused, texts, unjudged]);
    });
  }

  it('lets our own rules speak only where the API server was not asked', () => {
    const unusable = { message: 'no', share: '1 of 2 pods', isEvery: false, isByServer: true };
    const own = ['1 of 2 pods are unusable: no'];
    assert.deepEqual(invalidPods(verdictOf(of(2, valid), 2), unusable), []);
    assert.deepEqual(invalidPods(verdictOf([valid, refused], 2), unusable), own);
    assert.deepEqual(invalidPods(undefined, unusable), own);
  });

  it('refuses nothing if no pod is injected', () => {
    assert.deepEqual(verdictOf([], 0), { invalid: [], isRefused: false });
  });
});
