import type { Command } from 'commander';
import { commandLine } from '../../api/command-line.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { impossible } from '../../api/kubernetes/workload-behind.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { type Advice, adviseOn, withChanges } from '../../explain/advice.ts';
import { type CreationFinding, explainCreation } from '../../explain/explain-creation.ts';
import { gateIn } from '../../explain/stored-pod.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { type Cause, causesOf, type CheckReport, isReplacedByOther, whyWithoutWebhook } from '../check/check-report.ts';
import { creationOf, surroundingsOf } from '../../explain/files/facts.ts';
import { readClusterFacts } from '../check/read-cluster-facts.ts';
import { changesRemedy, failingConditions, type Remedy, workloadRemedy } from '../check/remedies.ts';
import { plainSubject, type Subject, subjectOf } from '../check/subject.ts';
import { allNamespacesOption, clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { readWorkloads } from '../diff/read-workloads.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { type OutputFormat, outputOption, writeReport } from '../report/write-report.ts';
import { namedByPod, readInstallation, requireNamespace } from '../usage/installation.ts';
import { lastGoodOf } from '../usage/last-good.ts';
import { notInstalled, tellHealth } from '../usage/operator-health.ts';
import { readRefused } from '../usage/read-refused.ts';
import { readUsage } from '../usage/read-usage.ts';

/** A problem, and a command that solves or explains it. */
type Finding = Pick<CheckReport, 'namespace' | 'kind' | 'name' | 'reason' | 'message'> & {
  readonly command: string;
};

/** `injector analyze`: lists the problems of injection in a cluster. */
export function analyzeCommand(terminal: Terminal): Command {
  const description = 'list the problems of injection in the cluster, with remedies; exit status 3 if there are any';
  return clusterCommand('analyze', description)
    .option('-n, --namespace <name>', 'only this namespace')
    .addOption(allNamespacesOption())
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly namespace?: string; readonly output: OutputFormat }) => {
      const { findings, notes, health } = await withCluster(options, (client) => analyze(client, options.namespace));
      if (findings.length > 0) terminal.setExitCode(exitCodes.negative);
      tellHealth(terminal, options.output, health);
      if (options.output === 'table' && findings.length === 0) terminal.out('no problems found');
      else
        writeReport(terminal, options.output, findings, {
          columns: ['NAMESPACE', 'OBJECT', 'REASON'],
          row: (finding) => [finding.namespace || '-', objectOf(finding), finding.reason],
          notes: ({ message, command }) => [message, command],
          empty: '',
        });
      for (const note of notes) terminal.error(note);
    });
}

function objectOf({ kind, name }: Pick<Finding, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** Finds the problems of the cluster, or of one namespace. */
export async function analyze(client: Pick<ApiClient, 'list' | 'listAll' | 'find'>, only: string | undefined) {
  const [installation, facts] = await Promise.all([readInstallation(client), readClusterFacts(client)]);
  const { configs, tags, namespaces, health } = installation;
  requireNamespace(only, installation);
  const absent = notInstalled(health);
  // Every other problem is a consequence, or needs an operator for its remedy.
  if (absent.length === health.asked.length && absent.length > 0)
    return { findings: absent.map(isAbsent), notes: [], health };
  const surroundings = surroundingsOf(facts);
  const findings: Finding[] = [];
  const tagged = new Set(tags.map(({ metadata }) => metadata.name));
  for (const owner of only === undefined ? [...tags, ...configs] : []) {
    const isReplaced = owner.kind !== 'RevisionTag' && tagged.has(revisionOf(owner));
    const cause = (isReplaced ? undefined : whyWithoutWebhook(owner, facts, surroundings)) ?? badCondition(owner);
    const found = { namespace: '', kind: owner.kind, name: owner.metadata.name };
    if (cause !== undefined && !isReplacedByOther(owner, facts)) findings.push({ ...found, ...cause });
    for (const each of owner.kind === 'RevisionTag' ? [] : failingConditions(owner, surroundings))
      findings.push({ ...found, reason: 'MatchConditionFails', ...each });
  }
  // Report a namespace's problem once, not per pod. `unwanted`: the outcomes and reasons to report.
  const reported = new Map<string, string>();
  const look = (subject: Subject, check: string, unwanted: readonly string[]): void => {
    const { kind, namespace, name } = subject;
    const creation = creationOf(subject, facts.namespaces);
    const finding = explainCreation(creation, surroundings);
    const [found] = causesOf(creation, finding, facts, surroundings, subject.workload);
    const isMissed = unwanted.includes(finding.outcome) || unwanted.includes(finding.reason);
    const missed = (): Cause => whyMissed(subject, finding, adviseOn(creation, surroundings, finding));
    const cause = found ?? (isMissed ? missed() : undefined);
    if (cause === undefined || reported.get(namespace) === cause.message) return;
    if (kind === 'Namespace') reported.set(name, cause.message);
    const { reason, message, changes = [] } = cause;
    const then = withChanges(creation, changes);
    const after = explainCreation(then, surroundings);
    const helps = after.outcome !== 'Refused' && causesOf(then, after, facts, surroundings).length === 0;
    const remedy = changesRemedy(helps ? changes : [], subject);
    const command = cause.command ?? (remedy.command || check);
    findings.push({ namespace, kind, name, reason, message: `${message}${remedy.note}`, command });
  };
  for (const name of only === undefined ? namespaces.keys() : [only])
    look(plainSubject(name), commandLine`injector check namespace/${name}`, []);
  const seen = new Set<string>();
  const plain: { subject: Subject; check: string; unwanted: string[] }[] = [];
  const bare = new Map<string, KubernetesObject>();
  const held = new Map<string, string>();
  const usage = await readUsage(client, installation, only, (pod, judgements) => {
    const { namespace = '', name: own = '', labels = {} } = pod.metadata;
    const { kind, name } = workloadOfPod(pod, namespace);
    const key = `${namespace}/${kind}/${name}`;
    const gate = gateIn(pod);
    if (gate !== undefined) held.set(key, gate);
    if (kind === 'Pod' && judgements.some(({ state }) => state === 'stale' || state === 'missing')) bare.set(key, pod);
    const isPlain = judgements.every(
      ({ state, reason }) => (state === 'none' && reason !== 'OtherInjector') || state === 'undecided',
    );
    const asks = configs.some(({ spec }) => namedByPod(spec.webhook.keys, {}, labels) !== undefined);
    const id = `${key}/${isPlain}`;
    const subject = subjectOf(pod, namespace);
    if (subject === undefined || seen.has(id) || !(isPlain || asks)) return;
    seen.add(id);
    const unwanted = isPlain ? ['Injected', 'Refused', ...(asks ? ['NotSelected', 'ExcludedNamespace'] : [])] : [];
    const template = kind === 'Pod' || name === impossible ? {} : { template: { kind, name } };
    const check = commandLine`injector check pod/${own} -n ${namespace}`;
    plain.push({ subject: { ...subject, kind, name, stored: pod, ...template }, check, unwanted });
  });
  const { workloads, notes } = await readWorkloads(client, only, () => undefined);
  const byKey = new Map(workloads.map((each) => [`${each.namespace}/${each.kind}/${each.name}`, each]));
  for (const { subject, check, unwanted } of plain) {
    const { recreation, workload } =
      byKey.get(`${subject.namespace}/${subject.kind}/${subject.name}`)?.template ?? subject;
    look({ ...subject, ...(recreation && { recreation }), ...(workload && { workload }) }, check, unwanted);
  }
  for (const { namespace, workload, injectorConfig, tag, stale, missing, causes } of usage.workloads) {
    if (stale + missing === 0) continue;
    const key = `${namespace}/${workload}`;
    const [kind = '', name = ''] = workload.split('/');
    const owner = [...tags, ...configs].find(({ metadata }) => metadata.name === (tag ?? injectorConfig));
    const { stored, template } = byKey.get(key) ?? {};
    const pod = bare.get(key) ?? stored;
    const recreated = pod && subjectOf({ ...pod, ...uninjectPod(pod).pod }, namespace);
    const subject = template ?? (recreated && { ...recreated, stored: pod });
    const isReplaced = isReplacedByOther(owner, facts);
    const remedy: Partial<Remedy> =
      whyWithoutWebhook(owner, facts, surroundings) ??
      heldRemedy(held.get(key), owner) ??
      (subject ? workloadRemedy(subject, { injectorConfig, isReplaced }, facts, surroundings) : {});
    const message = `${stale} stale, ${missing} missing: ${causes.map((each) => each.message).join('; ')}${remedy.note ?? ''}`;
    const { command = '# recreate its pods' } = remedy;
    findings.push({ namespace, kind, name, reason: stale > 0 ? 'Stale' : 'Missing', message, command });
  }
  for (const { namespace, kind, name, stored, template } of workloads) {
    const pod = template?.pod ?? uninjectPod(stored ?? {}).pod;
    const creation = creationOf({ namespace, pod }, facts.namespaces);
    const { reason, message } = explainCreation(creation, surroundings);
    if (reason !== 'SameName') continue;
    const at = template === undefined ? `pod/${stored?.metadata.name ?? ''}` : objectOf({ kind, name });
    const command = commandLine`injector check ${at} -n ${namespace}`;
    findings.push({ namespace, kind, name, reason, message: `new pods are refused: ${message}`, command });
  }
  const { refused, notes: unread } = await readRefused(client, only, usage.isInjected);
  for (const { namespace, kind, name, message } of refused) {
    // The cause may be a quota or another product, so the API server has to answer.
    const command = commandLine`injector check ${objectOf({ kind, name })} -n ${namespace} --dry-run`;
    findings.push({ namespace, kind, name, reason: 'Refused', message, command });
  }
  return { findings, notes: [...usage.notes, ...notes, ...unread], health };
}

function isAbsent({ operatorClass, command }: ReturnType<typeof notInstalled>[number]): Finding {
  const message = 'no operator is installed: install one, then analyze the cluster again';
  return { namespace: '', kind: 'Operator', name: operatorClass, reason: 'NotInstalled', message, command };
}

/** Returns the first condition that reports a problem. */
function badCondition(owner: InjectorConfig | RevisionTag) {
  const { kind, metadata, status } = owner;
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const badWhenTrue = ['TemplatesDoubtful', 'HoldUnavailable', 'Holding'];
  const found = conditions.find(({ type, status }) =>
    type === 'Ready' ? status === 'False' : status === 'True' && badWhenTrue.includes(type),
  );
  if (found === undefined) return undefined;
  const { type, reason, message } = found;
  const meanwhile = owner.kind !== 'RevisionTag' && type === 'Ready' ? lastGoodOf(owner) : undefined;
  const state = `${type} ${found.status}${meanwhile === undefined ? '' : ` (${meanwhile.instead})`}`;
  return { reason, message: `${state}: ${reason}: ${message}`, command: describe({ kind, metadata }) };
}

function describe({ kind, metadata }: Pick<InjectorConfig | RevisionTag, 'kind' | 'metadata'>): string {
  return commandLine`kubectl describe ${kind.toLowerCase()} ${metadata.name}`;
}

/** Held pods that a workload would get after a restart would wait, too. */
function heldRemedy(gate: string | undefined, owner: InjectorConfig | RevisionTag | undefined): Remedy | undefined {
  if (gate === undefined || owner === undefined) return undefined;
  const note = `; scheduling gate ${gate} holds pods, which the operator replaces when the webhook works`;
  return { command: describe(owner), note };
}

/** Returns why a pod that asks for a sidecar has none, and the only change that helps, if any. */
function whyMissed(subject: Subject, { outcome, reason, message }: CreationFinding, advice: readonly Advice[]): Cause {
  const why = `no sidecar; new pods are ${outcome}: ${message}`;
  if (outcome === 'Injected') {
    const { command, cost } = subject.recreation ?? {};
    return { reason, message: cost === undefined ? why : `${why}; ${cost}`, ...(command && { command }) };
  }
  const [only, ...others] = advice.filter((each) => each.outcome === 'Injected');
  return { reason, message: why, changes: others.length > 0 ? [] : [...(only?.changes ?? [])] };
}
