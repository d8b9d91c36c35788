import assert from 'node:assert/strict';
import type { WebhookFinding } from '../../explain/explain-creation.ts';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import type { CheckReport } from './check-report.ts';
import { printChecks } from './print-check.ts';

const plain: CheckReport = {
  kind: 'Pod',
  namespace: 'shop',
  name: 'web',
  result: 'NotInjected',
  reason: 'NoWebhook',
  message: 'none is published',
  injectedBy: [],
  webhooks: [],
  reinvoked: [],
  rollouts: [],
  advice: [],
  notes: [],
};
const target = { injectorConfig: '1-24', hash: '00000000', namespace: 'home' };
const called: WebhookFinding = {
  configuration: 'a',
  webhook: 'x.example.com',
  target: undefined,
  failurePolicy: 'Ignore',
  reinvocationPolicy: 'Never',
  outcome: 'Called',
  reason: 'Foreign',
  message: 'it is called',
  steps: [],
  unmet: { namespace: [], pod: [] },
};

function printed(reports: readonly CheckReport[], withSteps = false): string {
  const { terminal, seen } = recordingTerminal();
  printChecks(terminal, 'table', reports, withSteps);
  return seen().out + seen().errors;
}

describe('printChecks', () => {
  const both = ['a.00000000', 'b.00000000'];
  const heldPod = { ...state('Missing'), held: { gate: 'g', since: 's', message: 'held so' } };
  const injected: Partial<CheckReport> = { result: 'Injected', injectedBy: both, existing: state('Stale') };
  const rows: [title: string, report: Partial<CheckReport>, row: RegExp][] = [
    ['an object without a stored pod', {}, /\nshop +pod\/web +NotInjected +- +-\n {2}none is published\n/],
    [
      'a held pod',
      { existing: heldPod },
      /\nshop +pod\/web +NotInjected +- +Held\n {2}held so\n {2}none is published\n/,
    ],
    ['two injectors', injected, /\nshop +pod\/web +Injected +a\.0{8},b\.0{8} +Stale\n {2}none is published\n/],
  ];
  const command = 'kubectl label namespace shop a=b';
  const way = { changes: [], outcome: 'Injected', injectedBy: [], sentence: '', commands: [command] } as const;
  rows.push(['an object with advice', { advice: [way] }, new RegExp(`published\\n {2}${command}\\n`)]);
  rows.push(['an injected object', { ...injected, advice: [{ ...way, outcome: 'NotInjected' }] }, /published\nshop/]);
  for (const [title, report, row] of rows) {
    it(`prints a table row for ${title}`, () => {
      assert.match(printed([{ ...plain, ...report }, plain]), row);
    });
  }

  it('prints first that a pod is held, and the part of its workload', () => {
    const rollouts = [{ tag: 'prod', part: 'stable', message: 'stable part' }] as const;
    const text = printed([{ ...plain, existing: heldPod, rollouts }]);
    assert.match(text, /: NotInjected\n {2}held so\n {2}stable part\n {2}why: /);
  });

  const step = { step: 'MatchCondition', result: 'No', name: 'x', message: 'matchCondition x: false' } as const;
  const finding = (webhook: Partial<WebhookFinding>): WebhookFinding => ({ ...called, ...webhook });
  const far = { target, outcome: 'NotCalled', reason: 'NotSelected' } as const;
  const long = 'the API server sends a message that is longer than one whole line of a terminal';
  const remedy = { changes: [], outcome: 'Injected', injectedBy: [], sentence: 'to get it so: do this' } as const;
  const details: [title: string, report: Partial<CheckReport>, lines: string[]][] = [
    ['no webhook', {}, ['  no webhook is called for pods']],
    [
      "another injector's webhook and its message",
      { webhooks: [called] },
      ['  a/x.example.com (another injector, Ignore): called', '    it is called'],
    ],
    [
      'our webhook and its steps',
      { webhooks: [finding({ target, outcome: 'NotCalled', failurePolicy: 'Fail', steps: [step] })] },
      ['  a/x.example.com (InjectorConfig 1-24, Fail): not called', '    no      matchCondition    x: false'],
    ],
    [
      'the webhook of a tag, wrapped at 80 columns',
      { webhooks: [finding({ target: { ...target, tag: 'prod' }, outcome: 'Unknown', message: long })] },
      [
        '  a/x.example.com (RevisionTag prod, InjectorConfig 1-24, Ignore): unknown',
        '    the API server sends a message that is longer than one whole line of a',
        '      terminal',
      ],
    ],
    [
      'webhooks that do not match, all in one line',
      { webhooks: [called, finding(far), finding(far), finding({ ...far, configuration: 'b' })] },
      [
        '  a/x.example.com (another injector, Ignore): called',
        '    it is called',
        '  webhooks that do not match (--steps shows why): 3, of a, b',
      ],
    ],
    [
      'all other lines in a fixed order',
      {
        webhooks: [called],
        reinvoked: ['a/x.example.com', 'b/y.example.com'],
        existing: state('Missing'),
        dryRun: { result: 'Refused', injectedBy: [], message: 'no', foreseen: false },
        notes: ['a note'],
        command: 'do that',
        advice: [
          { ...remedy, commands: ['do this'] },
          { ...remedy, commands: ['this', 'or that'] },
        ],
      },
      [
        '  to change this:',
        '    do that',
        '  to get it so:',
        '    do this',
        '  to get it so:',
        '    this',
        '    or that',
        '  now: it is Missing',
        '  dry run by the API server: no (this differs from the explanation)',
        '  note: a note',
        '  a/x.example.com (another injector, Ignore): called',
        '    it is called',
        '  called a second time (reinvocationPolicy): a/x.example.com, b/y.example.com',
      ],
    ],
    [
      'a dry run with the same result, and a command in the advice',
      {
        dryRun: { result: 'NotInjected', injectedBy: [], message: 'plain', foreseen: true },
        command: '# do this',
        advice: [{ ...remedy, commands: ['do this'] }],
      },
      ['  to get it so:', '    do this', '  dry run by the API server: plain', '  no webhook is called for pods'],
    ],
  ];
  for (const [title, report, lines] of details) {
    it(`prints one object with ${title}`, () => {
      const text = printed([{ ...plain, ...report }]);
      const answer = ['pod/web in namespace shop: NotInjected', '  why: none is published'];
      assert.deepEqual(text.trimEnd().split('\n'), [...answer, ...lines]);
    });
  }

  it('prints several objects only as a table, except with --steps', () => {
    const both = [plain, { ...plain, name: 'other' }];
    assert.ok(!printed(both).includes('in namespace'));
    assert.match(printed(both, true), /\n\npod\/web in namespace shop: .*\n(.*\n)+\npod\/other in namespace shop: /);
  });

  it('reports an empty result', () => {
    assert.equal(printed([]), 'no pods or workloads found');
  });
});

function state(name: 'Stale' | 'Missing'): NonNullable<CheckReport['existing']> {
  return { state: name, injectedBy: [], message: `it is ${name}` };
}
