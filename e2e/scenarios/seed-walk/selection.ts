import { calledWebhooks, dryRun, podCreations } from '../../harness/admissions.ts';
import { applyUntilReady, exampleConfig } from '../../harness/injector-configs.ts';
import { isInjected } from '../../harness/pod.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, labelNamespace, podsOf, type WorkloadOptions } from '../../harness/workloads.ts';

const inject = 'sidecar.istio.io/inject';

/** What becomes of a pod; `unasked`: it stays plain, and the webhook never hears of it. */
type Case = [says: string, pod: WorkloadOptions, outcome: 'injected' | 'plain' | 'unasked'];

const optIn = { labels: { [inject]: 'true' } };
const optOut = { [inject]: 'false' };

/** In a namespace labelled istio-injection=enabled, policy enabled. */
const enabled: Case[] = [
  ['a pod that says nothing is injected', {}, 'injected'],
  ['label inject=false: plain, and the webhook is not asked', { labels: optOut }, 'unasked'],
  ['annotation inject=false: plain, and the webhook is not asked', { annotations: optOut }, 'unasked'],
  ['the label inject=true beats the annotation inject=false', { ...optIn, annotations: optOut }, 'injected'],
  ['a hostNetwork pod: plain, and the webhook is not asked', { ...optIn, spec: { hostNetwork: true } }, 'unasked'],
];

const disabled: Case[] = [
  ['policy disabled: a pod that says nothing is plain', {}, 'plain'],
  ['policy disabled: label inject=true is injected', optIn, 'injected'],
  ['policy disabled: annotation inject=true is injected', { annotations: optIn.labels }, 'injected'],
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
  await checkCase(context, opposed, ['istio-injection=disabled beats the pod that opts in', optIn, 'unasked']);
  const unlabelled = await context.namespace('unlabelled');
  await checkCase(context, unlabelled, ['an unlabelled namespace: plain', {}, 'unasked']);
  const says = 'an unlabelled namespace: a pod with inject=true is injected';
  await checkCase(context, unlabelled, [says, optIn, 'injected']);

  await labelNamespace(client, 'kube-system', { 'istio-injection': 'enabled' });
  try {
    await checkCase(context, 'kube-system', ['kube-system, even labelled: never', optIn, 'unasked']);
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

async function checkCase(context: ScenarioContext, namespace: string, [says, options, outcome]: Case): Promise<void> {
  const audit = context.startAudit();
  const pod = await dryRun(context.client, barePod(namespace, 'case', options));
  const isWanted = () => {
    const called = podCreations(audit?.events() ?? [], namespace).flatMap(calledWebhooks);
    const isHeeded = audit === undefined || called.length > 0 === (outcome !== 'unasked');
    const injected = outcome === 'injected';
    return isInjected(pod) === injected && pod.spec.containers.length === (injected ? 2 : 1) && isHeeded;
  };
  await context.check(says, isWanted, { timeout: 500 });
}
