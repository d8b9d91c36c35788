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
  message: 'it is asked',
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
  const injected: Partial<CheckReport> = { result: 'Injected', injectedBy: both, existing: state('Stale') };
  const rows: [what: string, report: Partial<CheckReport>, row: RegExp][] = [
    ['nobody injects, and there is no pod', {}, /\nshop +pod\/web +NotInjected +- +-\n {2}none is published\n/],
    ['several inject it', injected, /\nshop +pod\/web +Injected +a\.0{8},b\.0{8} +Stale\n {2}none is published\n/],
  ];
  for (const [what, report, row] of rows) {
    it(`the table: ${what}`, () => {
      assert.match(printed([{ ...plain, ...report }, plain]), row);
    });
  }

  const step = { step: 'MatchCondition', result: 'No', name: 'x', message: 'matchCondition x: false' } as const;
  const finding = (webhook: Partial<WebhookFinding>): WebhookFinding => ({ ...called, ...webhook });
  const far = { target, outcome: 'NotCalled', reason: 'NotSelected' } as const;
  const long = 'the API server says a word that is longer than what fits into one line of a terminal';
  const do_ = { changes: [], outcome: 'Injected', injectedBy: [], sentence: 'to have it so: do this' } as const;
  const details: [what: string, report: Partial<CheckReport>, lines: string[]][] = [
    ['no webhook', {}, ['  no webhook is asked about pods']],
    [
      "another injector's webhook without steps: what it says",
      { webhooks: [called] },
      ['  a/x.example.com (another injector, Ignore): asked', '    it is asked'],
    ],
    [
      'ours, with its steps',
      { webhooks: [finding({ target, outcome: 'NotCalled', failurePolicy: 'Fail', steps: [step] })] },
      ['  a/x.example.com (InjectorConfig 1-24, Fail): not asked', '    no      matchCondition    x: false'],
    ],
    [
      'ours, by a tag, folded at 80 columns',
      { webhooks: [finding({ target: { ...target, tag: 'prod' }, outcome: 'Unknown', message: long })] },
      [
        '  a/x.example.com (RevisionTag prod, InjectorConfig 1-24, Ignore): cannot be',
        '    told',
        '    the API server says a word that is longer than what fits into one line of',
        '      a terminal',
      ],
    ],
    [
      'those that do not match in one line',
      { webhooks: [called, finding(far), finding(far), finding({ ...far, configuration: 'b' })] },
      [
        '  a/x.example.com (another injector, Ignore): asked',
        '    it is asked',
        '  webhooks that do not match (--steps says why): 3, of a, b',
      ],
    ],
    [
      'everything else, in this order',
      {
        webhooks: [called],
        reinvoked: ['a/x.example.com', 'b/y.example.com'],
        existing: state('Missing'),
        dryRun: { result: 'Refused', injectedBy: [], message: 'no', foreseen: false },
        notes: ['a note'],
        command: 'do that',
        advice: [
          { ...do_, commands: ['do this'] },
          { ...do_, commands: ['this', 'or that'] },
        ],
      },
      [
        '  to change that:',
        '    do that',
        '  to have it so:',
        '    do this',
        '  to have it so:',
        '    this',
        '    or that',
        '  now: it is Missing',
        '  the API server, by a dry run: no (not what was foreseen here)',
        '  note: a note',
        '  a/x.example.com (another injector, Ignore): asked',
        '    it is asked',
        '  asked a second time (reinvocationPolicy): a/x.example.com, b/y.example.com',
      ],
    ],
    [
      'a dry run that was foreseen, and a command that is advised',
      {
        dryRun: { result: 'NotInjected', injectedBy: [], message: 'plain', foreseen: true },
        command: 'do this',
        advice: [{ ...do_, commands: ['do this'] }],
      },
      ['  to have it so:', '    do this', '  the API server, by a dry run: plain', '  no webhook is asked about pods'],
    ],
  ];
  for (const [what, report, lines] of details) {
    it(`of one object: ${what}`, () => {
      const text = printed([{ ...plain, ...report }]);
      const answer = ['pod/web in namespace shop: NotInjected', '  why: none is published'];
      assert.deepEqual(text.trimEnd().split('\n'), [...answer, ...lines]);
    });
  }

  it('of several objects only the table, unless asked', () => {
    const both = [plain, { ...plain, name: 'other' }];
    assert.ok(!printed(both).includes('in namespace'));
    assert.match(printed(both, true), /\n\npod\/web in namespace shop: .*\n(.*\n)+\npod\/other in namespace shop: /);
  });

  it('nothing to tell of', () => {
    assert.equal(printed([]), 'nothing that makes pods was found');
  });
});

function state(name: 'Stale' | 'Missing'): NonNullable<CheckReport['existing']> {
  return { state: name, injectedBy: [], message: `it is ${name}` };
}
