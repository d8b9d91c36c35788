import assert from 'node:assert/strict';
import { noResources, type PodResources } from '../../explain/pod-resources.ts';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import { type InjectionOutcome, makeReport, type WorkloadDiff } from './diff-report.ts';
import { amountText, printSummary, printWorkload } from './print-diff.ts';

const outcomeOf = (outcome: InjectionOutcome['outcome'], message = 'because'): InjectionOutcome => {
  return { outcome, configuration: 'mesh.11111111', reason: 'R', message };
};
const injected = outcomeOf('Injected');
const plain = outcomeOf('NotInjected', 'the policy is disabled');
const asking = (cpu: number, memory: number): PodResources => ({ ...noResources, requests: { cpu, memory } });

function diffOf(name: string, parts: Partial<WorkloadDiff> = {}): WorkloadDiff {
  return {
    namespace: 'shop',
    kind: 'Deployment',
    name,
    pods: 2,
    before: injected,
    after: injected,
    changes: [],
    isEstimated: false,
    changedByOthers: [],
    notes: [],
    resources: { before: noResources, after: noResources },
    ...parts,
  };
}

function summaryOf(diffs: readonly WorkloadDiff[], notes: readonly string[] = [], unknown = 0): string[] {
  const { terminal, seen } = recordingTerminal();
  printSummary(terminal, makeReport('revision a', 'revision b', diffs, notes, unknown));
  return [...seen().out.trimEnd().split('\n'), ...(seen().errors === '' ? [] : [`note ${seen().errors}`])];
}

describe('the summary of a diff', () => {
  const image = { kind: 'image', path: 'spec.containers[a].image', before: 'a:1', after: 'a:2' } as const;

  it('says that nothing differs, and what was not compared', () => {
    const first = 'from revision a to revision b: ';
    assert.deepEqual(summaryOf([]), [`${first}nothing was compared`]);
    const other = { ...injected, configuration: 'mesh.22222222' };
    const lines = summaryOf([diffOf('web'), diffOf('cart', { after: other })], ['why'], 3);
    assert.match(lines.join(' '), /2 workloads with 4 pods compared, no difference, 3/);
    assert.equal(lines.at(-1), 'note why');
    const same = /1 workload with 2 pods +compared, no difference: the configurations are identical$/;
    assert.match(summaryOf([diffOf('web')]).join(' '), same);
    assert.match(summaryOf([], [], 1).join(' '), /0 pods compared, no difference, 1 not compared$/);
  });

  it('names at most twenty refused workloads', () => {
    const refused = { after: outcomeOf('Refused', 'no such template') };
    const lines = summaryOf(Array.from({ length: 22 }, (_, index) => diffOf(`web-${index}`, refused)));
    assert.ok(lines.includes('REFUSED: new pods of 22 workloads would be refused'));
    assert.equal(lines.filter((line) => line.endsWith(': no such template')).length, 20);
    assert.ok(lines.includes('  and 2 more (-o json lists all)'));
    assert.ok(!summaryOf([diffOf('web', refused)]).some((line) => line.includes(' more (')));
  });

  it('says which workloads gain or lose their injection', () => {
    const lines = summaryOf([diffOf('gains', { before: plain }), diffOf('loses', { after: plain })]);
    assert.ok(lines.includes('no longer injected: 1 workload'));
    assert.ok(lines.includes('  for example deployment/loses in namespace shop: the policy is disabled'));
    assert.ok(lines.includes('injected for the first time: 1 workload'));
    assert.ok(lines.includes('  for example deployment/gains in namespace shop: because'));
  });

  it('shows an example of each kind of change, with absent and empty values', () => {
    const absent = { kind: 'labels', path: 'metadata.labels.a', before: undefined, after: '' } as const;
    const lines = summaryOf([
      diffOf('web', { changes: [image, absent], changedByOthers: ['metadata.labels.b'] }),
      diffOf('cart', { changes: [image], isEstimated: true }),
    ]);
    assert.ok(lines.includes('image: 2 workloads, 4 pods'));
    assert.deepEqual(lines.slice(lines.indexOf('    metadata.labels.a')).slice(0, 3), [
      '    metadata.labels.a',
      '    - (absent)',
      '    + ""',
    ]);
    assert.match(lines.slice(0, 2).join(' '), /2 changed; +1 estimated from templates/);
    assert.ok(lines.includes('1 workload: other webhooks also change the pods'));
  });

  it('says how much of a group and of a value it does not show', () => {
    const long = { kind: 'other', path: 'spec.a', after: 'x'.repeat(1000) } as const;
    const others = [image, { ...image, path: 'spec.containers[b].image' }, { ...image, after: 'a:3' }, long];
    const text = summaryOf([diffOf('web', { changes: others }), diffOf('cart', { changes: [image] })]).join('\n');
    assert.match(text, /\+ a:2\n {2}not shown: 2 other changes in 2 fields \(-o json lists all\)\n/);
    assert.match(text, /x\n {4}… and 620 more characters \(-o json shows all\)/);
    assert.equal(text.split('not shown').length, 2);
  });

  it('adds up requests and limits, apart from estimated rows', () => {
    const resources = { before: asking(1, 2 ** 20), after: asking(0.5, 3 * 2 ** 20) };
    const lines = summaryOf([
      diffOf('web', { changes: [image], resources }),
      diffOf('cart', { changes: [image], resources, isEstimated: true }),
    ]).map((line) => line.replaceAll(/ +/g, ' '));
    assert.ok(lines.includes('cpu requests 1 0.5 -0.5'));
    assert.ok(lines.includes('memory requests 1Mi 3Mi +2Mi'));
    assert.ok(lines.includes('cpu requests (estimated) 1 0.5 -0.5'));
  });

  it('shows one workload in full', () => {
    const { terminal, seen } = recordingTerminal();
    const changes = [image, { ...image, path: 'spec.initContainers[b].image', after: { a: 1 } }];
    printWorkload(terminal, diffOf('web', { changes, changedByOthers: ['metadata.labels.b'], notes: ['a note'] }));
    assert.deepEqual(
      seen()
        .out.trimEnd()
        .split('\n')
        .map((line) => line.trim()),
      [
        'deployment/web in namespace shop, 2 pods:',
        'before: Injected (mesh.11111111): because',
        'after: Injected (mesh.11111111): because',
        'image',
        'spec.containers[a].image',
        '- a:1',
        '+ a:2',
        'spec.initContainers[b].image',
        '- a:1',
        '+ {"a":1}',
        'other webhooks also change metadata.labels.b',
        'a note',
      ],
    );
    printWorkload(terminal, diffOf('same'));
    assert.match(seen().out, /deployment\/same in namespace shop, 2 pods: no difference/);
  });

  it('rounds cores and Mi to thousandths', () => {
    assert.deepEqual([amountText('cpu', 0.30000000000000004), amountText('memory', 1500 * 1024)], ['0.3', '1.465Mi']);
  });
});
