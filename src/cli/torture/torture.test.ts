import assert from 'node:assert/strict';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import { printTorture, type TortureReport } from './torture.ts';

describe('printTorture', () => {
  const passed = { case: 'a plain pod', about: 'the control', injected: true, milliseconds: 12, problems: [] };
  const report: TortureReport = {
    webhookConfiguration: 'some-injector',
    webhook: 'pods.example.com',
    time: '2026-11-30T08:00:00Z',
    configurationProblems: ['pods.example.com: timeoutSeconds is 30'],
    results: [
      { ...passed, result: 'Passed' },
      { ...passed, case: 'probes', about: 'a probe is lost', result: 'Failed', problems: ['spec is\u001b[31m lost'] },
      { ...passed, case: 'a new field', injected: false, result: 'NotApplicable', problems: ['unknown field'] },
    ],
  };

  it('prints a line for each pod, what failed and why, and the figures', () => {
    const { terminal, seen } = recordingTerminal();
    printTorture(terminal, report);
    assert.deepEqual(seen().out.trimEnd().split('\n'), [
      'POD           RESULT          INJECTED   TIME',
      'a plain pod   Passed          yes        12 ms',
      'probes        Failed          yes        12 ms',
      '  a probe is lost:',
      '  spec is\\u{1b}[31m lost',
      'a new field   NotApplicable   no         12 ms',
      '  unknown field',
      'webhook pods.example.com: timeoutSeconds is 30',
      'some-injector: 1 pod passed, 1 failed, 1 not applicable on this API server, 1 problem of the webhook',
    ]);
  });
});
