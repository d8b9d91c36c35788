import type { DashboardDiff } from '../../api/dashboard-reports.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { diffCluster } from '../diff/cluster-diff.ts';
import { plural } from '../report/write-report.ts';

/** The bounds of what a page gets: a pod can have a megabyte of annotations. */
const mostChanges = 200;
const mostCharacters = 2_000;

/**
 * Compares the newest running pod of a workload with a new pod, with the functions of `injector
 * diff`. Reads the workload's namespace.
 * @param workload for example `Deployment/web`
 * @throws UnmatchedName if there is no such workload
 */
export async function predictDiff(
  client: Pick<ApiClient, 'find' | 'list' | 'listAll'>,
  namespace: string,
  workload: string,
): Promise<DashboardDiff> {
  const request = { workload: `${namespace}/${workload}`, to: 'new pods' };
  const { workloads, notes } = await diffCluster(client, request, { progress: () => undefined });
  const [found] = workloads;
  if (found === undefined) return { notes };
  const { before, after, changes, needsRestart, changedByOthers } = found;
  const others = changedByOthers
    .slice(0, mostChanges)
    .map((path) => `another webhook or a person also changed ${path}`);
  return {
    compared: {
      before,
      after,
      changes: changes.slice(0, mostChanges).map((change) => ({
        path: change.path,
        ...(change.before !== undefined && { before: textOf(change.before) }),
        ...(change.after !== undefined && { after: textOf(change.after) }),
      })),
      unlistedChanges: Math.max(0, changes.length - mostChanges),
      ...(needsRestart && { needsRestart: needsRestart.slice(0, mostChanges) }),
    },
    notes: [...found.notes, ...others, ...notes],
  };
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  const cut = text.length - mostCharacters;
  return cut > 0 ? `${text.slice(0, mostCharacters)}… and ${plural(cut, 'more character')}` : text;
}
