import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { checkSubject, type CheckReport } from '../../../src/cli/check/check-report.ts';
import { surroundingsOf } from '../../../src/explain/files/facts.ts';
import { readClusterFacts } from '../../../src/cli/check/read-cluster-facts.ts';
import { subjectOf } from '../../../src/cli/check/subject.ts';
import type { Change } from '../../../src/explain/advice.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { calledWebhooks, dryRun } from '../../harness/admissions.ts';
import type { AuditEvent } from '../../harness/audit-log.ts';
import { isPodCreation } from '../../harness/lost-admissions.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { inBatches } from '../label-truth-table/rows.ts';

export interface Compared {
  readonly pod: KubernetesObject & Pod;
  readonly report: CheckReport;
  readonly actual: string;
  readonly message: string;
}

/** Dry-runs the creation of a pod, and returns the API server's result. */
export async function actualOutcome(client: ApiClient, pod: KubernetesObject & Pod) {
  try {
    const stored = await dryRun(client, pod);
    const entries = (stored.metadata.annotations?.['sidecar-injector.io/config'] ?? '')
      .split(',')
      .filter((each) => each !== '');
    return { actual: outcomeText(entries.length > 0 ? 'Injected' : 'NotInjected', entries), message: '' };
  } catch (error) {
    if (error instanceof ApiError && error.code >= 400) return { actual: 'Refused', message: error.message };
    throw error;
  }
}

/** Formats a result: `Injected by 1-24.0a1b2c3d,logs.4e5f6a7b`, or `Refused`. */
export function outcomeText(result: string, injectedBy: readonly string[]): string {
  return injectedBy.length === 0 ? result : `${result} by ${[...injectedBy].sort().join(',')}`;
}

/** Predicts all results from one read of the cluster, and compares them with dry runs. */
export async function compareAll({ client }: ScenarioContext, pods: readonly (KubernetesObject & Pod)[]) {
  const namespaces = pods.map(({ metadata }) => metadata.namespace ?? '');
  const facts = await readClusterFacts(client, namespaces);
  const surroundings = surroundingsOf(facts);
  const reports = pods.map((pod) => {
    const subject = subjectOf(pod, '');
    if (subject === undefined) throw new Error('the pod has no subject to check');
    return { pod, report: checkSubject(subject, facts, surroundings) };
  });
  return inBatches(reports, 10, async ({ pod, report }) => ({ pod, report, ...(await actualOutcome(client, pod)) }));
}

/** Describes differences. Predictions of Unknown are not compared. */
export function disagreements(compared: readonly Compared[]): string[] {
  return compared.flatMap(({ pod, report, actual, message }) => {
    const predicted = outcomeText(report.result, report.injectedBy);
    if (report.result === 'Unknown' || predicted === actual) return [];
    const { name = '', namespace = '', labels, annotations } = pod.metadata;
    const marks = JSON.stringify({ labels, annotations });
    return [`${namespace}/${name} ${marks}: predicted ${predicted} (${report.message}), was ${actual} ${message}`];
  });
}

/** Describes differences between the predicted webhooks and the webhooks in the audit log. */
export function otherWebhooks(compared: readonly Compared[], events: readonly AuditEvent[]): string[] {
  const creations = events.filter(isPodCreation).map((event) => {
    const { namespace = '', name = '' } = event.objectRef ?? {};
    return [`${namespace}/${name}`, calledWebhooks(event)] as const;
  });
  const asked = new Map<string, string[]>(creations);
  return compared.flatMap(({ pod: { metadata }, report }) => {
    // After a webhook with an unknown outcome, the outcomes of later webhooks are unknown, too.
    if (report.webhooks.some(({ outcome }) => outcome === 'Unknown')) return [];
    const key = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const called = new Set(['Called', 'Injected', 'Skipped']);
    // A webhook that refuses a pod was called, except if its matchCondition failed.
    const isAsked = ({ outcome, reason }: CheckReport['webhooks'][number]): boolean =>
      called.has(outcome) || (outcome === 'Refused' && reason !== 'MatchConditionFailed');
    const names = report.webhooks.filter(isAsked).map((each) => `${each.configuration}/${each.webhook}`);
    const [predicted, actual] = [names, asked.get(key) ?? []].map((each) => [...new Set(each)].sort().join(' '));
    return predicted === actual ? [] : [`${key}: predicted ${predicted}, called ${actual}`];
  });
}

/** Applies advised changes to a pod. Returns undefined if they change the namespace. */
export function followAdvice(pod: KubernetesObject & Pod, changes: readonly Change[]) {
  const changed = structuredClone(pod);
  for (const change of changes) {
    if (change.of === 'Namespace') return undefined;
    if (change.field === 'hostNetwork') {
      delete changed.spec['hostNetwork'];
      continue;
    }
    const map = (changed.metadata[`${change.field}s`] ??= {});
    if (change.value === null) Reflect.deleteProperty(map, change.key);
    else map[change.key] = change.value;
  }
  return changed;
}
