import { useState } from 'preact/hooks';
import type { DashboardProblem, ProblemsReport } from '../../api/dashboard-reports.ts';
import type { ReportsClient } from '../reports-client.ts';
import { LiveView } from './live-view.tsx';
import { CopiedCommand, Notes } from './parts.tsx';

/** The problems of the cluster, each with a command to copy. */
export function Problems({ client }: { readonly client: ReportsClient }) {
  return (
    <LiveView client={client} name="problems">
      {(report) => <ProblemList {...report} />}
    </LiveView>
  );
}

/** The number of problems that are drawn at first. */
const shownProblems = 100;

function ProblemList({ problems, notes }: ProblemsReport) {
  const [most, setMost] = useState(shownProblems);
  return (
    <section aria-labelledby="title-problems">
      <h2 id="title-problems">{problems.length === 0 ? 'No problems found' : `Problems: ${problems.length}`}</h2>
      <Notes notes={notes} />
      <ul class="problems" id="problem-list">
        {problems.slice(0, most).map((problem) => (
          <Problem key={`${problem.namespace}/${problem.kind}/${problem.name} ${problem.reason}`} {...problem} />
        ))}
      </ul>
      {problems.length > most && (
        <button type="button" onClick={() => setMost(most + shownProblems)}>
          Show {Math.min(shownProblems, problems.length - most)} more
        </button>
      )}
    </section>
  );
}

function Problem({ namespace, kind, name, reason, message, command }: DashboardProblem) {
  return (
    <li class="card">
      <h3>
        {namespace === '' || kind === 'Namespace' ? '' : `${namespace}/`}
        {kind}/{name} <span class="pill doubtful">{reason}</span>
      </h3>
      <p>{message}</p>
      <CopiedCommand text={command} />
    </li>
  );
}
