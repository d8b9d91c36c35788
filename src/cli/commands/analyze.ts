import type { Command } from 'commander';
import { commandLine, inSequence } from '../../api/command-line.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import { impossible } from '../../api/kubernetes/workload-behind.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { explainCreation } from '../../explain/explain-creation.ts';
import { uninjectPod } from '../../explain/uninject.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isRestartable } from '../../rollout/restart-reasons.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { type Cause, causesOf, changeInWords, type CheckReport, whyWithoutWebhook } from '../check/check-report.ts';
import { creationOf, surroundingsOf } from '../check/facts.ts';
import { readClusterFacts } from '../check/read-cluster-facts.ts';
import { plainSubject, type Subject, subjectOf } from '../check/subject.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { readWorkloads } from '../diff/read-workloads.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { oneLine, type OutputFormat, outputOption, writeData } from '../report/write-report.ts';
import { namedByPod, readInstallation, requireNamespace } from '../usage/installation.ts';
import { tellHealth } from '../usage/operator-health.ts';
import { readRefused } from '../usage/read-refused.ts';
import { readUsage } from '../usage/read-usage.ts';

/** A problem, and a command that solves or explains it. */
type Finding = Pick<CheckReport, 'namespace' | 'kind' | 'name' | 'reason' | 'message'> & { readonly command: string };

/** `injector analyze`: lists the problems of injection in a cluster. */
export function analyzeCommand(terminal: Terminal): Command {
  const description = 'list the problems of injection in the cluster, with remedies; exit status 3 if there are any';
  return clusterCommand('analyze', description)
    .option('-n, --namespace <name>', 'only this namespace')
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly namespace?: string; readonly output: OutputFormat }) => {
      const { findings, notes, health } = await withCluster(options, (client) => analyze(client, options.namespace));
      if (findings.length > 0) terminal.setExitCode(exitCodes.negative);
      tellHealth(terminal, options.output, health);
      if (options.output !== 'table') writeData(terminal, options.output, findings);
      else terminal.out(findings.length === 0 ? 'no problems found' : findings.map(lineOf));
      for (const note of notes) terminal.error(note);
    });
}

/** Formats a finding without wrapping, so that commands can be copied. */
function lineOf({ namespace, message, command, ...object }: Finding): string {
  return `${objectOf(object)}${namespace && ` in namespace ${namespace}`}: ${oneLine(message)}: ${command}`;
}

function objectOf({ kind, name }: Pick<Finding, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}/${name}`;
}

async function analyze(client: ApiClient, only: string | undefined) {
  const [installation, facts] = await Promise.all([readInstallation(client), readClusterFacts(client)]);
  const { configs, tags, namespaces, health } = installation;
  requireNamespace(only, installation);
  const surroundings = surroundingsOf(facts);
  const findings: Finding[] = [];
  const tagged = new Set(tags.map(({ metadata }) => metadata.name));
  for (const owner of only === undefined ? [...tags, ...configs] : []) {
    const isReplaced = owner.kind !== 'RevisionTag' && tagged.has(revisionOf(owner));
    const cause = (isReplaced ? undefined : whyWithoutWebhook(owner, facts, surroundings)) ?? badCondition(owner);
    if (cause !== undefined) findings.push({ namespace: '', kind: owner.kind, name: owner.metadata.name, ...cause });
  }
  // Report a namespace's problem once, not per pod. `unwanted`: the outcomes and reasons to report.
  const reported = new Map<string, string>();
  const look = (subject: Subject, check: string, unwanted: readonly string[]): void => {
    const { kind, namespace, name } = subject;
    const creation = creationOf(subject, facts.namespaces);
    const finding = explainCreation(creation, surroundings);
    const missed: Cause = { ...finding, message: `no sidecar; new pods are ${finding.outcome}: ${finding.message}` };
    const [found] = causesOf(creation, finding, facts, surroundings);
    const isMissed = unwanted.includes(finding.outcome) || unwanted.includes(finding.reason);
    const cause = found ?? (isMissed ? missed : undefined);
    if (cause === undefined || reported.get(namespace) === cause.message) return;
    if (kind === 'Namespace') reported.set(name, cause.message);
    const { reason, message, changes = [] } = cause;
    const change = inSequence(changes.map((each) => changeInWords(each, subject))) || check;
    findings.push({ namespace, kind, name, reason, message, command: cause.command ?? change });
  };
  for (const name of only === undefined ? namespaces.keys() : [only])
    look(plainSubject(name), commandLine`injector check namespace/${name}`, []);
  const seen = new Set<string>();
  const usage = await readUsage(client, installation, only, (pod, judgements) => {
    const { namespace = '', name: own = '', labels = {} } = pod.metadata;
    const { kind, name } = workloadOfPod(pod, namespace);
    const isPlain = judgements.every(({ state }) => state === 'none' || state === 'undecided');
    const asks = configs.some(({ spec }) => namedByPod(spec.webhook.keys, {}, labels) !== undefined);
    const id = `${namespace}/${kind}/${name}/${isPlain}`;
    const subject = subjectOf(pod, namespace);
    if (subject === undefined || seen.has(id) || !(isPlain || asks)) return;
    seen.add(id);
    const unwanted = isPlain ? ['Injected', 'Refused', ...(asks ? ['NotSelected', 'ExcludedNamespace'] : [])] : [];
    const template = kind === 'Pod' || name === impossible ? {} : { template: { kind, name } };
    look({ ...subject, kind, name, ...template }, commandLine`injector check pod/${own} -n ${namespace}`, unwanted);
  });
  for (const { namespace, workload, injectorConfig, tag, stale, missing, causes } of usage.workloads) {
    if (stale + missing === 0) continue;
    const [kind = '', name = ''] = workload.split('/');
    const canRestart = isRestartable(kind) && name !== impossible;
    const restart = commandLine`kubectl rollout restart ${kind.toLowerCase()}/${name} -n ${namespace}`;
    const owner = [...tags, ...configs].find(({ metadata }) => metadata.name === (tag ?? injectorConfig));
    // Without a webhook, a restart would remove the sidecar.
    const { command = canRestart ? restart : 'recreate its pods' } =
      whyWithoutWebhook(owner, facts, surroundings) ?? {};
    const message = `${stale} stale, ${missing} missing: ${causes.map((each) => each.message).join('; ')}`;
    findings.push({ namespace, kind, name, reason: stale > 0 ? 'Stale' : 'Missing', message, command });
  }
  const { workloads, notes } = await readWorkloads(client, only, () => undefined);
  for (const { namespace, kind, name, stored, template } of workloads) {
    const pod = template?.pod ?? uninjectPod(stored ?? {}).pod;
    const creation = creationOf({ namespace, kind, name, pod, notes: [] }, facts.namespaces);
    const { reason, message } = explainCreation(creation, surroundings);
    if (reason !== 'SameName') continue;
    const at = template === undefined ? `pod/${stored?.metadata.name ?? ''}` : objectOf({ kind, name });
    const command = commandLine`injector check ${at} -n ${namespace}`;
    findings.push({ namespace, kind, name, reason, message: `new pods are refused: ${message}`, command });
  }
  const { refused, notes: unread } = await readRefused(client, only, usage.isInjected);
  for (const { namespace, kind, name, message } of refused) {
    const command = commandLine`injector check ${objectOf({ kind, name })} -n ${namespace}`;
    findings.push({ namespace, kind, name, reason: 'Refused', message, command });
  }
  return { findings, notes: [...usage.notes, ...notes, ...unread], health };
}

/** Returns the first condition that reports a problem. */
function badCondition({ kind, metadata, status }: InjectorConfig | RevisionTag) {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const badWhenTrue = ['TemplatesDoubtful', 'HoldUnavailable', 'Holding'];
  const found = conditions.find(({ type, status }) =>
    type === 'Ready' ? status === 'False' : status === 'True' && badWhenTrue.includes(type),
  );
  if (found === undefined) return undefined;
  const { type, reason, message } = found;
  return {
    reason,
    message: `${type} ${found.status}: ${reason}: ${message}`,
    command: commandLine`kubectl describe ${kind.toLowerCase()} ${metadata.name}`,
  };
}
