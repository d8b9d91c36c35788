import assert from 'node:assert/strict';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { readFileFacts } from '../../explain/files/read-file-facts.ts';
import { changesInWords, checkSubject, type CheckReport, type DryRunAnswer } from './check-report.ts';
import { surroundingsOf } from '../../explain/files/facts.ts';
import { recreationOf } from './recreation.ts';
import { subjectOf } from './subject.ts';

const keys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
const shop = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'shop', labels: { 'istio.io/rev': 'mesh', 'logs/rev': 'logs' } },
};
const facts = readFileFacts([shop, injectorConfig('mesh'), injectorConfig('logs', { webhook: { keys } })], 'home');
const surroundings = surroundingsOf(facts);

function check(labels: Record<string, string>, dryRun?: DryRunAnswer): CheckReport {
  const spec = { containers: [{ name: 'app', image: 'app' }] };
  const subject = subjectOf({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels }, spec }, 'shop');
  assert.ok(subject);
  return checkSubject(subject, facts, surroundings, dryRun === undefined ? {} : { dryRun });
}

const optsOut = { 'sidecar.istio.io/inject': 'false', 'logs/inject': 'false' };

describe('checkSubject with a dry run', () => {
  const both = check({}).injectedBy;
  const reversed = [...both].reverse();

  it('starts from a pod that two families inject', () => {
    assert.deepEqual(both.map((entry) => entry.split('.')[0]).sort(), ['logs', 'mesh']);
    assert.equal(check({}).dryRun, undefined);
  });

  const answerOf = (result: DryRunAnswer['result'], injectedBy: readonly string[] = []): DryRunAnswer => {
    return { result, injectedBy, message: 'answer' };
  };
  const table: [title: string, labels: Record<string, string>, answer: DryRunAnswer, foreseen: boolean][] = [
    ['the same result', {}, answerOf('Injected', both), true],
    ['the same result in another order', {}, answerOf('Injected', reversed), true],
    ['one of two injectors', {}, answerOf('Injected', both.slice(1)), false],
    ['another configuration', {}, answerOf('Injected', ['mesh.00000000']), false],
    ['the result NotInjected', {}, answerOf('NotInjected'), false],
    ['the result Refused', {}, answerOf('Refused'), false],
    ['a pod that opts out and is not injected', optsOut, answerOf('NotInjected'), true],
    ['a pod that opts out but is injected', optsOut, answerOf('Injected', both), false],
  ];
  for (const [title, labels, answer, foreseen] of table) {
    it(`${title}: ${foreseen ? 'matches the explanation' : 'replaces the explanation'}`, () => {
      const alone = check(labels);
      const report = check(labels, answer);
      assert.deepEqual(report.dryRun, { ...answer, foreseen });
      const { result, reason, message, injectedBy } = foreseen
        ? alone
        : { ...answer, reason: 'DryRun', message: 'answer', injectedBy: answer.injectedBy };
      assert.deepEqual(
        [report.result, report.reason, report.message, report.injectedBy],
        [result, reason, message, injectedBy],
      );
    });
  }
});

describe('changesInWords', () => {
  const changes = [
    { of: 'Namespace', field: 'label', key: 'istio-injection', value: null },
    { of: 'Pod', field: 'label', key: 'istio.io/rev', value: 'mesh' },
    { of: 'Pod', field: 'hostNetwork' },
  ] as const;
  const labelled = `kubectl label namespace shop istio-injection-`;
  const patch = '{"metadata":{"labels":{"istio.io/rev":"mesh"}},"spec":{"hostNetwork":false}}';
  const template = { metadata: {}, spec: { containers: [] } };
  const partition = { updateStrategy: { rollingUpdate: { partition: 2 } } };
  // A pod is replaced once, by a pod with all changes.
  for (const [kind, spec, expected] of [
    [
      'Pod',
      { containers: [] },
      `| kubectl patch --local -f - --type merge -p '${patch}' -o yaml | kubectl replace --f`,
    ],
    [
      'Deployment',
      { template },
      `kubectl patch deployment web -n shop --type merge -p '{"spec":{"template":${patch}}}'`,
    ],
    [
      'StatefulSet',
      { template, ...partition },
      `# kubectl patch statefulset web -n shop --type merge -p '{"spec":{"template":${patch}}}'; then lower spec.`,
    ],
    ['Job', { template }, 'recreate the Job web with the label istio.io/rev=mesh and without spec.hostNetwork in its'],
  ] as const) {
    it(`makes all changes of a ${kind} at once`, () => {
      const object = { apiVersion: 'v1', kind, metadata: { name: 'web' }, spec };
      const subject = {
        ...{ kind, namespace: 'shop', name: 'web', pod: {}, notes: [] },
        ...(kind === 'Pod' ? { stored: object } : { template: { kind, name: 'web' } }),
        recreation: recreationOf(object, 'shop'),
      };
      const words = changesInWords(changes, subject);
      assert.deepEqual([words.length, words[0]], [2, labelled]);
      assert.ok(words[1]?.includes(expected) && !words[1].includes('delete'), words[1]);
    });
  }
});
