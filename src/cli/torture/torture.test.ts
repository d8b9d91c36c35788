import assert from 'node:assert/strict';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { TortureReport } from './run-torture.ts';
import { printTorture, torture, type TortureClient } from './torture.ts';

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

describe('torture', () => {
  interface Created {
    readonly kind: string;
    readonly metadata: { readonly name?: string; readonly namespace?: string; readonly labels?: object };
    readonly spec?: { readonly containers: readonly object[] };
  }
  const podRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  const webhook = {
    name: 'pods.example.com',
    rules: [podRule],
    sideEffects: 'None',
    namespaceSelector: { matchLabels: { inject: 'yes' } },
  };

  /** Returns a client of a cluster with one injector, and what is left of the namespaces. */
  function cluster(webhooks: readonly object[], deleted: () => void = () => undefined) {
    const namespaces = new Map<string, object>();
    const client = {
      listAll: () => Promise.resolve({ items: [{ metadata: { name: 'some-injector' }, webhooks }] }),
      create: (object: Created) => {
        const { kind, metadata, spec } = object;
        if (kind === 'Namespace') namespaces.set(metadata.name ?? '', metadata.labels ?? {});
        // The controller of ServiceAccounts may be faster.
        const exists = { code: 409, reason: 'AlreadyExists', message: 'it exists' };
        if (kind === 'ServiceAccount') return Promise.reject(new ApiError(exists));
        const isSelected = 'inject' in (namespaces.get(metadata.namespace ?? '') ?? {});
        const isInjected = JSON.stringify(object).includes('"sidecar"');
        if (spec === undefined || !isSelected || isInjected) return Promise.resolve(structuredClone(object));
        return Promise.resolve({ ...object, spec: { ...spec, containers: [...spec.containers, { name: 'sidecar' }] } });
      },
      delete: async ({ metadata }: Created) => {
        await Promise.resolve();
        deleted();
        namespaces.delete(metadata.name ?? '');
      },
    };
    return { client: client as unknown as TortureClient, namespaces };
  }

  it('creates pods in two namespaces, and removes these', async () => {
    const { terminal } = recordingTerminal();
    const { client, namespaces } = cluster([webhook]);
    const { results, configurationProblems } = await torture(client, 'some-injector', terminal);
    assert.deepEqual([results.filter(({ result }) => result !== 'Passed'), configurationProblems], [[], []]);
    assert.equal(namespaces.size, 0);
  });

  it('names a namespace that it cannot remove', async () => {
    const { terminal, seen } = recordingTerminal();
    const refused = (): never => {
      throw new ApiError({ code: 403, reason: 'Forbidden', message: 'not allowed' });
    };
    await torture(cluster([webhook], refused).client, 'some-injector', terminal);
    const line =
      /namespace (injector-torture-\w+) is not removed \(not allowed\); remove it: kubectl delete namespace \1\n/;
    assert.match(seen().errors, line);
  });

  const refused: [title: string, name: string, webhooks: object[], why: RegExp][] = [
    [
      'an unknown name',
      'some-injektor',
      [webhook],
      /there is no MutatingWebhookConfiguration some-injektor.*some-injector/,
    ],
    ['a webhook for other objects', 'some-injector', [{ ...webhook, rules: [] }], /selects no pods/],
    ['a webhook of every pod', 'some-injector', [{ ...webhook, namespaceSelector: {} }], /selects every pod/],
  ];
  for (const [title, name, webhooks, why] of refused) {
    it(`refuses ${title}, and creates nothing`, async () => {
      const { client, namespaces } = cluster(webhooks);
      await assert.rejects(torture(client, name, recordingTerminal().terminal), why);
      assert.equal(namespaces.size, 0);
    });
  }
});
