import type { DashboardReplica, DashboardRevision, OverviewReport } from '../../api/dashboard-reports.ts';
import type { ReportsClient } from '../reports-client.ts';
import { ActionButtons } from './actions.tsx';
import { LiveView } from './live-view.tsx';
import { Notes, PodNumbers, Scrolled } from './parts.tsx';
import { TagCard } from './tag-card.tsx';

/** The first view: tags with their rollouts, revisions, and operators. */
export function Overview({ client }: { readonly client: ReportsClient }) {
  return (
    <LiveView client={client} name="overview">
      {(report) => <OverviewOf client={client} report={report} />}
    </LiveView>
  );
}

function OverviewOf({ client, report }: { readonly client: ReportsClient; readonly report: OverviewReport }) {
  const { server, tags, revisions, replicas, outages, notes, allowsActions } = report;
  return (
    <>
      <p class="muted server">
        API server: <code>{server}</code>
      </p>
      {outages.map((outage) => (
        <p key={outage} role="alert" class="failure">
          {outage}
        </p>
      ))}
      <Notes notes={notes} />
      <section aria-labelledby="title-tags">
        <h2 id="title-tags">Tags</h2>
        {tags.length === 0 && <p>There is no RevisionTag.</p>}
        <div class="cards">
          {tags.map((tag) => (
            <TagCard key={tag.tag} tag={tag}>
              {allowsActions && <ActionButtons client={client} tag={tag} />}
            </TagCard>
          ))}
        </div>
      </section>
      <section aria-labelledby="title-revisions">
        <h2 id="title-revisions">Revisions</h2>
        {revisions.length === 0 ? (
          <p>There is no InjectorConfig, and no other injector.</p>
        ) : (
          <Revisions all={revisions} />
        )}
      </section>
      <section aria-labelledby="title-operators">
        <h2 id="title-operators">Replicas of the operator</h2>
        <ul class="replicas">
          {replicas.map((replica) => (
            <li key={`${replica.operatorClass}/${replica.name}`}>{replicaText(replica)}</li>
          ))}
        </ul>
        {replicas.length === 0 && <p>There is no replica.</p>}
      </section>
    </>
  );
}

function replicaText({ name, operatorClass, version, isLive, isLeader }: DashboardReplica) {
  const role = isLeader ? ', leader' : '';
  return (
    <>
      <strong class={isLive ? 'injected' : 'refused'}>{isLive ? 'Live' : 'Not live'}</strong> {name}
      {operatorClass !== 'default' && ` (class ${operatorClass})`}
      {version !== undefined && `, version ${version}`}
      {role}
    </>
  );
}

function Revisions({ all }: { readonly all: readonly DashboardRevision[] }) {
  return (
    <Scrolled label="Table of revisions">
      <table id="revisions">
        <thead>
          <tr>
            {['Revision', 'InjectorConfig', 'Ready', 'Pods', 'Tags', 'Namespaces', 'Configuration'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map((each) => (
            <tr key={`${each.revision} ${each.name}`}>
              <th scope="row">{each.revision}</th>
              <td>{each.foreign ? `${each.name} (another injector)` : each.name}</td>
              <td>
                <Readiness {...each} />
              </td>
              <td>{each.pods === undefined ? '–' : <PodNumbers {...each.pods} />}</td>
              <td>{each.tags.join(', ') || '–'}</td>
              <td title={each.namespaces.join(', ')}>{namesOf(each.namespaces)}</td>
              <td>{each.hash === undefined ? '–' : <code>{each.hash}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

/** The number of names that a cell shows. */
const shownNames = 3;

function namesOf(names: readonly string[]): string {
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  return names.length === 0 ? '–' : `${names.slice(0, shownNames).join(', ')}${more}`;
}

function Readiness({
  ready,
  reason,
  message,
  unknownSince,
}: Pick<DashboardRevision, 'ready' | 'reason' | 'message' | 'unknownSince'>) {
  if (ready === undefined) return <>–</>;
  if (ready) return <strong class="injected">Ready</strong>;
  return (
    <>
      <strong class={unknownSince === undefined ? 'refused' : 'unknown'}>{reason}</strong>
      <span class="why">{message}</span>
    </>
  );
}
