import {
  dryRunPod,
  type DryRunPlace,
  isTemporary,
  judgedPod,
  type JudgedPod,
  type PodsVerdict,
  verdictOf,
} from '../../inject/rehearsal/dry-run.ts';
import type { InjectedPod, TypicalPod } from '../../inject/rehearsal/typical-pods.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';

/**
 * The time limit of a request, in milliseconds. The first pod is tried alone, and the others at
 * once, so that all requests together take at most three times as long.
 */
const dryRunTimeoutMs = 1000;

/**
 * Creates injected pods as dry runs in a namespace, which stores nothing, and returns the verdict
 * of the API server. Sends at most one request more than there are pods: if a pod is invalid, also
 * tries it without injection, because another webhook or policy may be the cause. Rejects only if
 * the signal aborts, or if this process no longer leads.
 */
export async function dryRunPods(
  client: Pick<ApiClient, 'create'>,
  place: DryRunPlace,
  pods: readonly InjectedPod[],
  signal?: AbortSignal,
): Promise<PodsVerdict> {
  const judge = (kind: string, pod: TypicalPod['pod']): Promise<JudgedPod> =>
    dryRun(client, kind, dryRunPod(pod, place), signal);
  const [first, ...others] = pods;
  if (first === undefined) return verdictOf([], 0);
  const judged = [await judge(first.kind, first.pod)];
  if (!isTemporary(judged[0]?.answer))
    judged.push(...(await Promise.all(others.map(({ kind, pod }) => judge(kind, pod)))));
  const invalid = pods.find((_, index) => judged[index]?.answer === 'Invalid');
  const control = invalid && (await judge(invalid.kind, invalid.original));
  if (control?.answer !== 'Invalid') return verdictOf(judged, pods.length);
  const message = `it is refused without injection, too: ${control.message}`;
  return verdictOf([{ kind: control.kind, answer: 'DryRunRefused', message }], pods.length);
}

async function dryRun(
  client: Pick<ApiClient, 'create'>,
  kind: string,
  pod: TypicalPod['pod'],
  signal: AbortSignal | undefined,
): Promise<JudgedPod> {
  try {
    await client.create(pod as never, { dryRun: true, signal, timeoutMs: dryRunTimeoutMs });
    return judgedPod(kind);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason === 'NotLeading') throw error;
    return judgedPod(kind, error);
  }
}
