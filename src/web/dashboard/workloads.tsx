import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { WorkloadsReport } from '../../api/dashboard-reports.ts';
import type { ReportsClient } from '../reports-client.ts';
import {
  filterRows,
  rowsOf,
  windowOf,
  type WorkloadRow,
  workloadStates,
  type WorkloadState,
} from '../workload-rows.ts';
import { CheckDialog } from './check-dialog.tsx';
import { LiveView } from './live-view.tsx';
import { Notes } from './parts.tsx';

/** All workloads; a click explains one. */
export function Workloads({ client }: { readonly client: ReportsClient }) {
  return (
    <LiveView client={client} name="workloads">
      {(report) => <FilteredWorkloads client={client} report={report} />}
    </LiveView>
  );
}

/** The height of a row in pixels, as in dashboard.css. */
const rowHeight = 36;
const columns = ['Namespace', 'Workload', 'Injector', 'Current', 'Stale', 'Missing', 'Held', 'Why'];

interface FilteredProps {
  readonly client: ReportsClient;
  readonly report: WorkloadsReport;
}

function FilteredWorkloads({ client, report: { workloads, total, injectedByOthers, notes } }: FilteredProps) {
  const [search, setSearch] = useState('');
  const [state, setState] = useState<WorkloadState>();
  const [checked, setChecked] = useState<WorkloadRow>();
  const rows = useMemo(() => rowsOf(workloads), [workloads]);
  const found = useMemo(() => filterRows(rows, search, state), [rows, search, state]);
  return (
    <section aria-labelledby="title-workloads">
      <h2 id="title-workloads">Workloads</h2>
      <p>
        Pods: {total.current} current, {total.stale} stale, {total.missing} missing
        {injectedByOthers > 0 && `, ${injectedByOthers} injected by another injector`}
      </p>
      <Notes notes={notes} />
      <div class="filters">
        <label>
          Search{' '}
          <input
            id="search"
            type="search"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <div role="group" aria-label="State" class="choices">
          {[undefined, ...workloadStates].map((each) => (
            <button key={each ?? 'all'} type="button" aria-pressed={each === state} onClick={() => setState(each)}>
              {each ?? 'all'} {each === undefined ? rows.length : rows.filter(({ states }) => states.has(each)).length}
            </button>
          ))}
        </div>
        <span role="status" class="muted" id="found">
          {found.length} of {rows.length} workloads
        </span>
      </div>
      <RowsTable rows={found} choose={setChecked} />
      {checked !== undefined && <CheckDialog client={client} row={checked} close={() => setChecked(undefined)} />}
    </section>
  );
}

interface RowsProps {
  readonly rows: readonly WorkloadRow[];
  readonly choose: (row: WorkloadRow) => void;
}

/** Draws only the rows that can be seen. */
function RowsTable({ rows, choose }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const look = (): void => {
    if (box.current !== null) setPlace({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useEffect(() => {
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  const { first, last, above, below } = windowOf(rows.length, rowHeight, place.top, place.height);
  return (
    <div ref={box} class="scrolled rows" role="region" aria-label="Table of workloads" tabIndex={0} onScroll={look}>
      <table id="workloads" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Gap height={above} />}
          {rows.slice(first, last).map((row, index) => (
            <Row key={`${first + index}`} row={row} index={first + index + 2} choose={choose} />
          ))}
          {below > 0 && <Gap height={below} />}
        </tbody>
      </table>
    </div>
  );
}

function Gap({ height }: { readonly height: number }) {
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns.length} style={{ height: `${height}px` }} />
    </tr>
  );
}

function Row({
  row,
  index,
  choose,
}: {
  readonly row: WorkloadRow;
  readonly index: number;
  readonly choose: RowsProps['choose'];
}) {
  const { namespace, workload, injectorConfig, tag, current, stale, missing, held, refused, causes } = row;
  const injector = tag === undefined ? injectorConfig : `${injectorConfig} (${tag})`;
  const why = refused === undefined ? causes.join('; ') : `refused: ${refused}`;
  const number = (count: number, tone: string) => <td class={count > 0 ? `number ${tone}` : 'number'}>{count}</td>;
  return (
    <tr aria-rowindex={index}>
      <td title={namespace}>{namespace}</td>
      <td>
        <button type="button" class="link" title={workload} onClick={() => choose(row)}>
          {workload}
        </button>
      </td>
      <td title={injector}>{injector}</td>
      {number(current, '')}
      {number(stale, 'warning')}
      {number(missing, 'refused')}
      {number(held, 'warning')}
      <td class={refused === undefined ? 'muted' : 'refused'} title={why}>
        {why}
      </td>
    </tr>
  );
}
