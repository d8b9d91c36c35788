import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DashboardReports } from '../../api/dashboard-reports.ts';
import { follow, type Followed, type ReportsClient } from '../reports-client.ts';

interface LiveViewProps<Name extends keyof DashboardReports> {
  readonly client: ReportsClient;
  readonly name: Name;
  readonly children: (report: DashboardReports[Name]) => ComponentChildren;
}

/** Shows the newest version of a report, and whether it is old. */
export function LiveView<Name extends keyof DashboardReports>({ client, name, children }: LiveViewProps<Name>) {
  const [followed, setFollowed] = useState<Followed<DashboardReports[Name]>>({});
  useEffect(() => {
    const stop = new AbortController();
    void follow<DashboardReports[Name]>(client, `/reports/${name}`, setFollowed, stop.signal);
    return () => stop.abort();
  }, [client, name]);
  const { report, failure } = followed;
  const isReading = report === undefined && failure === undefined;
  return (
    <main aria-busy={isReading} data-view={name}>
      <p role="status" id="standing" class={failure === undefined ? 'muted' : 'failure'}>
        {isReading ? 'Reading the cluster…' : standingOf(followed, client)}
      </p>
      {report !== undefined && children(report)}
    </main>
  );
}

function standingOf({ report, failure, at }: Followed<unknown>, { snapshotAt }: ReportsClient): string {
  if (failure === undefined && snapshotAt === undefined) return 'Live: the page follows the cluster.';
  if (failure === undefined) return `A snapshot of ${new Date(snapshotAt ?? '').toLocaleString()}.`;
  const since = at === undefined ? '' : `, since ${new Date(at).toLocaleTimeString()}`;
  return report === undefined ? failure : `Not live${since}: ${failure}`;
}
