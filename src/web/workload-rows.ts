import type { DashboardWorkload } from '../api/dashboard-reports.ts';

/** What can be wrong with a workload; `current` if nothing is. */
export const workloadStates = ['current', 'stale', 'missing', 'refused', 'held'] as const;
export type WorkloadState = (typeof workloadStates)[number];

/** A workload with what filters read. */
export interface WorkloadRow extends DashboardWorkload {
  readonly states: ReadonlySet<WorkloadState>;
  /** The words that a search finds, in lower case. */
  readonly searched: string;
}

/** Returns the rows of workloads. */
export function rowsOf(workloads: readonly DashboardWorkload[]): WorkloadRow[] {
  return workloads.map((each) => {
    const { namespace, workload, injectorConfig, tag = '', causes, refused = '' } = each;
    const searched = [`${namespace}/${workload}`, injectorConfig, tag, refused, ...causes].join(' ').toLowerCase();
    return { ...each, states: statesOf(each), searched };
  });
}

function statesOf({ stale, missing, held, refused }: DashboardWorkload): ReadonlySet<WorkloadState> {
  const wrong = new Set<WorkloadState>();
  if (stale > 0) wrong.add('stale');
  // Held pods count as missing until they get their sidecar.
  if (missing > held) wrong.add('missing');
  if (refused !== undefined) wrong.add('refused');
  if (held > 0) wrong.add('held');
  return wrong.size === 0 ? new Set(['current']) : wrong;
}

/** Returns the rows with a state that contain every word. */
export function filterRows(
  rows: readonly WorkloadRow[],
  search: string,
  state: WorkloadState | undefined,
): readonly WorkloadRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    ({ searched, states }) =>
      (state === undefined || states.has(state)) && words.every((word) => searched.includes(word)),
  );
}

/** The rows around the visible ones, so that a fast scroll shows no gap. */
const margin = 10;

/** Returns the range of the rows to draw, and the heights of the gaps for the others. */
export function windowOf(count: number, rowHeight: number, top: number, height: number) {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - margin);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + margin);
  return { first, last, above: first * rowHeight, below: (count - last) * rowHeight };
}
