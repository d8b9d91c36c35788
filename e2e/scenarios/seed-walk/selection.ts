import { calledWebhooks, dryRun, podCreations } from '../../harness/admissions.ts';
import { applyUntilReady, exampleConfig } from '../../harness/injector-configs.ts';
import { isInjected, runningContainers } from '../../harness/pod.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, labelNamespace, podsOf, type WorkloadOptions } from '../../harness/workloads.ts';

const inject = 'sidecar.istio.io/inject';

/** The expected result for a pod; `unasked` means that the API server does not call the webhook. */
type Case = [says: string, pod: WorkloadOptions, outcome: 'injected' | 'plain' | 'unasked'];

const optIn = { labels: { [inject]: 'true' } };
const optOut = { [inject]: 'false' };

/** Cases in a namespace labelled istio-injection=enabled, with policy enabled. */
const enabled: Case[] = [
  ['a pod without labels is injected', {}, 'injected'],
  ['a pod with label inject=false does not reach the webhook', { labels: optOut }, 'unasked'],
  ['a pod with annotation inject=false does not reach the webhook', { annotations: optOut }, 'unasked'],
  ['the label inject=true overrides the annotation inject=false', { ...optIn, annotations: optOut }, 'injected'],
  ['a hostNetwork pod does not reach the webhook', { ...optIn, spec: { hostNetwork: true } }, 'unasked'],
];

const disabled: Case[] = [
  ['with policy disabled, a pod without labels is not injected', {}, 'plain'],
  ['with policy disabled, a pod with label inject=true is injected', optIn, 'injected'],
  ['with policy disabled, a pod with annotation inject=true is injected', { annotations: optIn.labels }, 'injected'],
];

/** Checks which pods of a selected namespace are injected, and which reach the webhook. */
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
  await checkCase(context, opposed, ['istio-injection=disabled overrides a pod that opts in', optIn, 'unasked']);
  const unlabelled = await context.namespace('unlabelled');
  await checkCase(context, unlabelled, ['a pod in an unlabelled namespace is not injected', {}, 'unasked']);
  const says = 'a pod with inject=true in an unlabelled namespace is injected';
  await checkCase(context, unlabelled, [says, optIn, 'injected']);

  await labelNamespace(client, 'kube-system', { 'istio-injection': 'enabled' });
  try {
    await checkCase(context, 'kube-system', ['kube-system is never injected, even with a label', optIn, 'unasked']);
  } finally {
    await labelNamespace(client, 'kube-system', { 'istio-injection': null });
  }

  await checkMetrics(context, operator);
  const stored = (await podsOf(client, namespace)).length;
  const answer = await dryRun(client, barePod(namespace, 'dry'));
  await context.check(
    '--dry-run=server returns the injected pod and stores nothing',
    async () => isInjected(answer) && (await podsOf(client, namespace)).length === stored,
  );
}

/** Checks that metrics count injected and skipped pods by InjectorConfig and outcome. */
async function checkMetrics(context: ScenarioContext, operator: OperatorProcess): Promise<void> {
  await context.check('/metrics counts the injected and the skipped pods of the InjectorConfig', async () => {
    const lines = (await operator.metrics())
      .split('\n')
      .filter((line) => line.startsWith('injector_admission_decisions_total'));
    const counted = (outcome: string) =>
      lines.some((line) => line.includes('injector="default"') && line.includes(`outcome="${outcome}"`));
    return counted('injected') && counted('skipped');
  });
}

async function checkCase(context: ScenarioContext, namespace: string, [says, options, outcome]: Case): Promise<void> {
  const audit = context.startAudit();
  const pod = await dryRun(context.client, barePod(namespace, 'case', options));
  const isExpected = () => {
    const called = podCreations(audit?.events() ?? [], namespace).flatMap(calledWebhooks);
    const isCalledAsExpected = audit === undefined || called.length > 0 === (outcome !== 'unasked');
    const injected = outcome === 'injected';
    return isInjected(pod) === injected && runningContainers(pod).length === (injected ? 2 : 1) && isCalledAsExpected;
  };
  await context.check(says, isExpected, { timeout: 500 });
}
