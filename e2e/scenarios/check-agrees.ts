import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Random } from '../../scripts/template-recorder/random.ts';
import type { UsageStatus } from '../../src/api/injector-config/usage-status.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { CheckReport } from '../../src/cli/check/check-report.ts';
import { applyObject } from '../harness/apply.ts';
import { clusterFlags, runInjector, type CommandResult } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfigs, smallConfig } from '../harness/injector-configs.ts';
import { applyTagUntilReady, removeTagAndWebhook, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { barePod, createDeployment, deployment, labelNamespace, podsOf } from '../harness/workloads.ts';
import {
  actualOutcome,
  compareAll,
  disagreements,
  followAdvice,
  otherWebhooks,
  outcomeText,
  type Compared,
} from './check-agrees/compare.ts';
import { namespaceLabels, randomPod, randomRound } from './check-agrees/random-configs.ts';
import { istioRowKeys } from './label-truth-table.ts';
import { tableNamespaces, tablePods } from './label-truth-table/rows.ts';

// Outcomes that must occur often in the full size. Unknown policies are never published.
const reasons = [
  ...['Injected', 'NotSelected', 'ExcludedNamespace', 'OptedOutByLabel', 'OptedOutByAnnotation', 'HostNetwork'],
  ...['MirrorPod', 'MatchCondition', 'MatchConditionFailed', 'NeverInjectSelector', 'PolicyDisabled'],
  ...['AnnotationNotAllowed', 'UnsafeAnnotation', 'InvalidAnnotation'],
];
const kinds = [
  ...['rev.namespace', 'rev.object', 'namespace', 'object', 'auto', 'custom'].map((name) => `InjectorConfig ${name}`),
  ...['rev.namespace', 'rev.object', 'namespace', 'object', 'auto'].map((name) => `RevisionTag ${name}`),
  'foreign',
];
const least = 20;

export const checkAgrees: Scenario = {
  name: 'check-agrees',
  about:
    'the API server does what `injector check` predicts, for the table of labels, and for random pods and random InjectorConfigs',
  destructive: 'it installs the default revision, and webhooks that refuse pods',
  full: '256 rows and 3,600 random pods in 12 random rounds, 2 minutes',
  run: async (context) => {
    const { client } = context;
    await context.startOperator();
    await applyUntilReady(client, smallConfig('default'));
    await applyUntilReady(client, smallConfig('1-24'));
    await applyTagUntilReady(client, revisionTag('prod', '1-24'));
    await checkRows(context);
    await checkByCommand(context);

    const [rounds, perRound] = context.size === 'full' ? [12, 300] : [2, 120];
    const random = new Random(context.seed);
    const tallies = new Tallies();
    const namespaces = await Promise.all(
      namespaceLabels.map(([suffix, labels]) => context.namespace(suffix, { ...labels })),
    );
    for (let number = 0; number < rounds; number += 1)
      await checkRound(context, { number, random, namespaces, count: perRound }, tallies);
    context.say(`results: ${toText(tallies.results)}`);
    context.say(`reasons: ${toText(tallies.reasons)}`);
    context.say(`webhooks called: ${toText(tallies.kinds)}`);
    if (context.size === 'full') {
      await context.checkNow(`every reason and every kind of webhook occurs at least ${least} times`, () =>
        none([...tooRare(reasons, tallies.reasons), ...tooRare(kinds, tallies.kinds)]),
      );
    }
    context.measured({
      rows: 256,
      randomPods: rounds * perRound,
      configurations: rounds,
      disagreements: 0,
      adviceTried: tallies.advice,
      results: counted(tallies.results),
      reasons: counted(tallies.reasons),
      webhooksAsked: counted(tallies.kinds),
    });
    return `256 rows and ${rounds * perRound} random pods had the predicted outcome, ${tallies.advice} pieces of advice had the promised effect`;
  },
};

async function checkRows(context: ScenarioContext): Promise<void> {
  const namespaces = await tableNamespaces(context, 'row', istioRowKeys);
  const audit = context.startAudit();
  const pods = tablePods(namespaces, 'row', istioRowKeys).map(({ pod }) => pod);
  const compared = await compareAll(context, pods);
  await context.checkNow('injector check predicts the result of all 256 rows', () => none(disagreements(compared)));
  if (audit === undefined) return;
  await context.checkNow('the predicted webhooks are called', () => none(otherWebhooks(compared, audit.events())));
}

interface Pods {
  readonly number: number;
  readonly random: Random;
  readonly namespaces: readonly string[];
  readonly count: number;
}

async function checkRound(context: ScenarioContext, { number, random, namespaces, count }: Pods, tallies: Tallies) {
  const { client } = context;
  const round = randomRound(random, number, namespaces.at(-1) ?? '', namespaces[0] ?? '');
  await applyObject(client, round.configMap);
  for (const config of round.configs) await applyUntilReady(client, config);
  await applyObject(client, round.webhook);
  await applyTagUntilReady(client, revisionTag('prod', '1-24'));
  if (round.enableByTag)
    await applyTagUntilReady(client, revisionTag('default', '1-24', { enableNamespacesByDefault: true }));
  try {
    const pods = Array.from({ length: count }, (_, index) =>
      randomPod(random, random.pick(namespaces), `random-${number * count + index}`),
    );
    const audit = context.startAudit();
    const compared = await compareAll(context, pods);
    for (const { report } of compared) tallies.note(report);
    await context.checkNow(`in round ${number + 1}, injector check predicts the outcome of ${count} random pods`, () =>
      none(disagreements(compared)),
    );
    if (audit !== undefined) {
      await context.checkNow(`in round ${number + 1}, the API server calls the predicted webhooks`, () =>
        none(otherWebhooks(compared, audit.events())),
      );
    }
    tallies.advice += await tryAdvice(context, compared);
  } finally {
    await client.delete(round.webhook);
    if (round.enableByTag) await removeTagAndWebhook(client, 'default');
  }
}

/** Follows all advice that changes only the pod. Checks the promised result with a dry run. */
async function tryAdvice(context: ScenarioContext, compared: readonly Compared[]): Promise<number> {
  const wrong: string[] = [];
  let tried = 0;
  for (const { pod, report } of compared.slice(0, 60)) {
    for (const { changes, outcome, injectedBy } of report.advice) {
      const changed = followAdvice(pod, changes);
      if (changed === undefined) continue;
      tried += 1;
      const { actual } = await actualOutcome(context.client, changed);
      const promised = outcomeText(outcome, injectedBy);
      if (actual !== promised)
        wrong.push(`${pod.metadata.name ?? ''} ${JSON.stringify(changes)}: ${actual}, not ${promised}`);
    }
  }
  await context.checkNow(`each of ${tried} pieces of advice has the promised effect`, () => none(wrong));
  return tried;
}

/** Returns how often each word occurs, in alphabetical order of the words. */
function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of [...words].sort((one, other) => one.localeCompare(other))) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function toText(words: readonly string[]): string {
  const counts = Object.entries(counted(words));
  return counts.map(([word, count]) => `${word} ${count}`).join(', ');
}

/** Returns the expected words that occur too rarely, with their counts. */
function tooRare(expected: readonly string[], words: readonly string[]): string[] {
  const counts = counted(words);
  return expected.flatMap((word) => ((counts[word] ?? 0) < least ? [`${word} ${counts[word] ?? 0}`] : []));
}

/** Collects the outcomes of all pods, one word per occurrence. */
class Tallies {
  readonly reasons: string[] = [];
  readonly kinds: string[] = [];
  readonly results: string[] = [];
  advice = 0;

  note({ result, reason, webhooks }: CheckReport): void {
    this.results.push(result);
    this.reasons.push(reason);
    for (const { target, webhook, outcome } of webhooks) {
      if (outcome === 'NotCalled' || outcome === 'Unknown') continue;
      const owner = target?.tag === undefined ? 'InjectorConfig' : 'RevisionTag';
      this.kinds.push(target === undefined ? 'foreign' : `${owner} ${webhook.replace('.sidecar-injector.io', '')}`);
    }
  }
}

interface Report {
  result: string;
  injectedBy: string[];
  existing?: { state: string };
  dryRun?: { result: string; foreseen: boolean };
  advice: { sentence: string }[];
}

async function checkByCommand(context: ScenarioContext): Promise<void> {
  const { client, cluster } = context;
  const check = (...argv: string[]) => runInjector(['check', ...argv, ...clusterFlags(cluster)]);
  const namespace = await context.namespace('command');
  await createDeployment(client, namespace, 'web');
  const [early] = await podsOf(client, namespace, 'web');
  await context.check('check deployment/web exits with 3 and shows the command that enables injection', async () => {
    const { code, out } = await check('deployment/web', '-n', namespace);
    return code === 3 && out.includes(`kubectl label namespace ${namespace} istio-injection=enabled`);
  });

  const analyze = (from: string) => runInjector(['analyze', '-n', from, ...clusterFlags(cluster)]);
  await context.check('analyze of a namespace without injection labels exits with 0', async () =>
    found(String((await analyze(namespace)).code), '0'),
  );
  const mistyped = await context.namespace('mistyped', { 'istio.io/rev': 'prd' });
  await context.check('analyze names a label that matches no revision, and the correct label', async () => {
    const { code, out } = await analyze(mistyped);
    return code === 3 && out.includes(`kubectl label namespace ${mistyped} istio.io/rev=prod --overwrite`);
  });

  await labelNamespace(client, namespace, { 'istio-injection': 'enabled' });
  await context.check('after following the advice, check deployment web exits with 0', async () => {
    return (await check('deployment', 'web', '-n', namespace)).code === 0;
  });
  const held = deployment(namespace, 'held', { annotations: { 'inject.istio.io/templates': 'missing' } });
  await client.create(held);
  await context.check('analyze names the workload to restart and the workload whose pods are refused', async () => {
    const { code, out } = await analyze(namespace);
    const isMissing = out.includes(`kubectl rollout restart deployment/web -n ${namespace}`);
    return code === 3 && isMissing && /replicaset\/held-\w+ +Refused\n[^]*denied\s+the\s+request/.test(out);
  });
  await client.delete(held);
  await context.check('check pod/NAME reports a pod without a sidecar as Missing', async () => {
    const [report] = reportsOf(await check(`pod/${early?.metadata.name ?? ''}`, '-n', namespace, '-o', 'json'));
    return report?.result === 'Injected' && report.existing?.state === 'Missing';
  });
  await client.create(barePod(namespace, 'fresh'));
  const state = async () => reportsOf(await check('pod/fresh', '-n', namespace, '-o', 'json'))[0]?.existing?.state;
  await context.check('check pod/NAME reports a new pod as Current', async () => (await state()) === 'Current');
  const other = smallConfig('default');
  other.spec.injection['injectedAnnotations'] = { 'example.com/edited': 'yes' };
  await applyUntilReady(client, other);
  await context.check('check pod/NAME reports a Stale pod after an edit', async () => (await state()) === 'Stale');
  const read = async (...argv: string[]): Promise<unknown> =>
    JSON.parse((await runInjector([...argv, '-o', 'json', ...clusterFlags(cluster)])).out);
  // The status is written at intervals: until then, run no commands.
  const injected = await waitFor('the status to count stale and missing pods', async () => {
    const { status } = await client.get<KubernetesObject & { status?: UsageStatus }>(injectorConfigs, 'default');
    const counts = status?.injected;
    return counts !== undefined && counts.stale > 0 && counts.missing > 0 && counts;
  });
  await context.check(
    'status, revisions and the status of an InjectorConfig have the same numbers of pods',
    async () => {
      type Counts = { name: string; current: number; stale: number; missing: number; pods: object };
      const { injectorConfigs: rows, total } = (await read('status')) as { injectorConfigs: Counts[]; total: Counts };
      const byName = ({ name }: Counts): boolean => name === 'default';
      const { current, stale, missing } = rows.find(byName) ?? total;
      const counted = { current, stale, missing };
      const isSame = isDeepStrictEqual({ ...counted, total: current + stale + missing }, { ...injected });
      const revision = ((await read('revisions')) as Counts[]).find(byName);
      return isSame && isDeepStrictEqual(revision?.pods, counted) && stale > 0 && missing > 0;
    },
  );
  await context.check('check namespace/NAME reports all three workloads and pods', async () => {
    const result = await check(`namespace/${namespace}`, '-o', 'json');
    return result.code === 0 && reportsOf(result).length === 3;
  });

  const file = join(cluster.run.path, 'check.yaml');
  const pods = [
    barePod(namespace, 'refused', { annotations: { 'inject.istio.io/templates': 'missing' } }),
    barePod(namespace, 'out', { labels: { 'sidecar.istio.io/inject': 'false' } }),
  ];
  writeFileSync(file, pods.map((pod) => JSON.stringify(pod)).join('\n---\n'));
  await context.check('check -f FILE --dry-run exits with 4 and the dry run has the predicted results', async () => {
    const result = await check('-f', file, '--dry-run', '-o', 'json');
    const reports = reportsOf(result);
    const isForeseen = reports.length === 2 && reports.every(({ dryRun }) => dryRun?.foreseen === true);
    return result.code === 4 && isForeseen && reports.map((each) => each.result).join() === 'Refused,NotInjected';
  });
  await context.check('check of a missing object exits with 2', async () => {
    const { code, errors } = await check('deployment/missing', '-n', namespace);
    return code === 2 && errors.includes('missing');
  });
}

function reportsOf({ out }: CommandResult): Report[] {
  return JSON.parse(out) as Report[];
}
