import type { DashboardWorkload, WorkloadsReport } from '../../api/dashboard-reports.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { readStatus } from '../commands/status.ts';
import type { RefusedWorkload } from '../usage/read-refused.ts';
import { noCounts, type WorkloadUsage } from '../usage/read-usage.ts';

/** Reads the workloads of `injector status`, each with the pods that are refused or held. */
export async function workloadsReport(client: Pick<ApiClient, 'list' | 'listAll' | 'find'>): Promise<WorkloadsReport> {
  const { report, mistakes, notes } = await readStatus(client, undefined, false);
  const { workloads, refused, total, injectedByOthers } = report;
  return { workloads: withRefused(workloads, refused), total, injectedByOthers, notes: [...mistakes, ...notes] };
}

/** Adds the message of a refusal to its workload, or a row if the workload has no pods. */
function withRefused(workloads: readonly WorkloadUsage[], refused: readonly RefusedWorkload[]): DashboardWorkload[] {
  const messages = new Map(refused.map((each) => [keyOf(each), each]));
  const rows = workloads.map(({ namespace, workload, injectorConfig, tag, current, stale, missing, causes }) => {
    const { message } = messages.get(keyOf({ namespace, workload })) ?? {};
    messages.delete(keyOf({ namespace, workload }));
    return {
      ...{ namespace, workload, injectorConfig, current, stale, missing },
      ...(tag !== undefined && { tag }),
      held: causes.reduce((sum, { reason, pods }) => sum + (reason === 'Held' ? pods : 0), 0),
      ...(message !== undefined && { refused: message }),
      causes: causes.map(({ message: cause }) => cause),
    };
  });
  const without = [...messages.values()].map(({ namespace, workload, message }) => {
    return { namespace, workload, injectorConfig: '', ...noCounts, held: 0, refused: message, causes: [] };
  });
  return [...rows, ...without];
}

function keyOf({ namespace, workload }: Pick<WorkloadUsage, 'namespace' | 'workload'>): string {
  return `${namespace}/${workload}`;
}
