import { calledWebhooks, dryRun, podCreations } from '../../harness/admissions.ts';
import { applyUntilReady, exampleConfig } from '../../harness/injector-configs.ts';
import { isInjected } from '../../harness/pod.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, labelNamespace, podsOf, type WorkloadOptions } from '../../harness/workloads.ts';

const inject = 'sidecar.istio.io/inject';

interface Case {
  says: string;
  pod: WorkloadOptions;
  injected: boolean;
  asked: boolean;
}

/** In a namespace labelled istio-injection=enabled, policy enabled. */
const enabled: Case[] = [
  { says: 'a pod that says nothing is injected', pod: {}, injected: true, asked: true },
  {
    says: 'label inject=false: plain, and the webhook is not asked',
    pod: { labels: { [inject]: 'false' } },
    injected: false,
    asked: false,
  },
  {
    says: 'annotation inject=false: plain, and the webhook is not asked',
    pod: { annotations: { [inject]: 'false' } },
    injected: false,
    asked: false,
  },
  {
    says: 'the label inject=true beats the annotation inject=false',
    pod: { labels: { [inject]: 'true' }, annotations: { [inject]: 'false' } },
    injected: true,
    asked: true,
  },
  {
    says: 'a hostNetwork pod: plain, and the webhook is not asked',
    pod: { labels: { [inject]: 'true' }, spec: { hostNetwork: true } },
    injected: false,
    asked: false,
  },
];

const disabled: Case[] = [
  { says: 'policy disabled: a pod that says nothing is plain', pod: {}, injected: false, asked: true },
  {
    says: 'policy disabled: label inject=true is injected',
    pod: { labels: { [inject]: 'true' } },
    injected: true,
    asked: true,
  },
  {
    says: 'policy disabled: annotation inject=true is injected',
    pod: { annotations: { [inject]: 'true' } },
    injected: true,
    asked: true,
  },
];

/** Which pods of a selected namespace are injected, and which of them ever reach the webhook. */
export async function walkSelection(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  const { client } = context;
  const namespace = await context.namespace('selected', { 'istio-injection': 'enabled' });
  for (const each of enabled) await checkCase(context, namespace, each);

  const hello = exampleConfig('hello.yaml');
  hello.spec.injection['policy'] = 'disabled';
  await applyUntilReady(client, hello);
  for (const each of disabled) await checkCase(context, namespace, each);
  await applyUntilReady(client, exampleConfig('hello.yaml'));

  const opposed = await context.namespace('opposed', { 'istio-injection': 'disabled' });
  const optIn = { labels: { [inject]: 'true' } };
  await checkCase(context, opposed, {
    says: 'istio-injection=disabled beats the pod that opts in',
    pod: optIn,
    injected: false,
    asked: false,
  });
  const unlabelled = await context.namespace('unlabelled');
  await checkCase(context, unlabelled, {
    says: 'an unlabelled namespace: plain',
    pod: {},
    injected: false,
    asked: false,
  });
  await checkCase(context, unlabelled, {
    says: 'an unlabelled namespace: a pod with inject=true is injected',
    pod: optIn,
    injected: true,
    asked: true,
  });

  await labelNamespace(client, 'kube-system', { 'istio-injection': 'enabled' });
  try {
    await checkCase(context, 'kube-system', {
      says: 'kube-system, even labelled: never',
      pod: optIn,
      injected: false,
      asked: false,
    });
  } finally {
    await labelNamespace(client, 'kube-system', { 'istio-injection': null });
  }

  await checkMetrics(context, operator);
  const stored = (await podsOf(client, namespace)).length;
  const answer = await dryRun(client, barePod(namespace, 'dry'));
  await context.check(
    '--dry-run=server shows the injected pod and stores nothing',
    async () => isInjected(answer) && (await podsOf(client, namespace)).length === stored,
  );
}

/** Every injection and every skip is counted, by InjectorConfig and reason. */
async function checkMetrics(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  await context.check('/metrics counts injections and skips of the InjectorConfig by reason', async () => {
    const lines = (await operator.metrics())
      .split('\n')
      .filter((line) => line.startsWith('injector_admission_decisions_total'));
    const counted = (outcome: string) =>
      lines.some((line) => line.includes('injector="default"') && line.includes(`outcome="${outcome}"`));
    return counted('injected') && counted('skipped');
  });
}

async function checkCase(context: ScenarioContext, namespace: string, expected: Case): Promise<void> {
  const audit = context.startAudit();
  const pod = await dryRun(context.client, barePod(namespace, 'case', expected.pod));
  await context.check(
    expected.says,
    () => {
      const called = podCreations(audit?.events() ?? [], namespace).flatMap(calledWebhooks);
      const asked = audit === undefined || called.length > 0 === expected.asked;
      return (
        isInjected(pod) === expected.injected && pod.spec.containers.length === (expected.injected ? 2 : 1) && asked
      );
    },
    { timeout: 500 },
  );
}
