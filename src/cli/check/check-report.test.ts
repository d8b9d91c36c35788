import assert from 'node:assert/strict';
import { injectorConfig } from '../../api/testdata/injector-config.ts';
import { readFileFacts } from './read-file-facts.ts';
import { checkSubject, type CheckReport, type DryRunAnswer } from './check-report.ts';
import { surroundingsOf } from './facts.ts';
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

describe('checkSubject with the answer of the API server', () => {
  const both = check({}).injectedBy;
  const reversed = [...both].reverse();

  it('is a pod that two families inject, in the examples', () => {
    assert.deepEqual(both.map((entry) => entry.split('.')[0]).sort(), ['logs', 'mesh']);
    assert.equal(check({}).dryRun, undefined);
  });

  const said = (result: DryRunAnswer['result'], injectedBy: readonly string[] = []): DryRunAnswer => {
    return { result, injectedBy, message: 'said' };
  };
  const table: [what: string, labels: Record<string, string>, answer: DryRunAnswer, foreseen: boolean][] = [
    ['the same', {}, said('Injected', both), true],
    ['the same, in another order', {}, said('Injected', reversed), true],
    ['one of two', {}, said('Injected', both.slice(1)), false],
    ['another configuration', {}, said('Injected', ['mesh.00000000']), false],
    ['not injected', {}, said('NotInjected'), false],
    ['refused', {}, said('Refused'), false],
    ['a pod that opts out is not injected', optsOut, said('NotInjected'), true],
    ['a pod that opts out is injected all the same', optsOut, said('Injected', both), false],
  ];
  for (const [what, labels, answer, foreseen] of table) {
    it(`${what}: ${foreseen ? 'as foreseen' : 'its word is the result'}`, () => {
      const alone = check(labels);
      const report = check(labels, answer);
      assert.deepEqual(report.dryRun, { ...answer, foreseen });
      const { result, reason, message, injectedBy } = foreseen
        ? alone
        : { ...answer, reason: 'DryRun', message: 'said', injectedBy: answer.injectedBy };
      assert.deepEqual(
        [report.result, report.reason, report.message, report.injectedBy],
        [result, reason, message, injectedBy],
      );
    });
  }
});
