import type { ApiClient } from '../../kube/api-client.ts';
import { checkObject } from '../commands/check.ts';
import { messageOf } from '../files.ts';
import type { DataAnswer, DataRequest, Site } from '../pages/serve-pages.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import { FollowedHealth } from './followed-health.ts';
import { LiveReport, reportJson } from './live-report.ts';
import { predictDiff } from './predicted-diff.ts';
import { reportsOf } from './reports.ts';
import { WatchedCluster } from './watched-cluster.ts';

/** Leases of operators are not watched: their heartbeats would change the report every second. */
const maximumAge = 2_500;

/**
 * Returns the functions that answer the page's requests.
 * @param signal ends the watches of the cluster
 * @param actions absent if the page only reads
 */
export function serveReports(
  client: ApiClient,
  access: Access,
  signal: AbortSignal,
  actions?: Actions,
): Pick<Site, 'answer' | 'act'> {
  const cluster = new WatchedCluster(client);
  cluster.run(signal);
  const health = new FollowedHealth(cluster, maximumAge);
  const { overview, certificates, workloads, problems } = reportsOf(cluster, client.server, (classes) =>
    health.read(classes),
  );
  const withProblems = async () => {
    const report = await overview();
    const notes = [...report.notes, ...cluster.problems];
    return { ...report, notes, ...(actions && { allowsActions: true }) };
  };
  const live = (compute: () => Promise<unknown>, interval: number): LiveReport =>
    new LiveReport({ compute, changes: () => cluster.changes, interval, maximumAge: Math.max(maximumAge, interval) });
  const reports: Readonly<Record<string, LiveReport | undefined>> = {
    '/reports/overview': live(withProblems, 500),
    '/reports/certificates': live(certificates, 1_000),
    '/reports/workloads': live(workloads, 2_000),
    '/reports/problems': live(problems, 10_000),
  };
  let turn: Promise<unknown> = Promise.resolve();
  /** Predicts for one page after another, because each prediction reads a namespace. */
  const predict = (query: URLSearchParams, closed: AbortSignal): Promise<DataAnswer> => {
    const answer = turn.then(() => {
      if (closed.aborted) return failure(503, 'the page has gone');
      return lookUp(query, (workload, namespace) => predictDiff(cluster, namespace, workload));
    });
    turn = answer;
    return answer;
  };
  const answer = async ({ path, query, bearer, signal: closed }: DataRequest): Promise<DataAnswer> => {
    if (path === '/session') {
      const session = access.open(bearer);
      if (session !== undefined) return { status: 200, json: JSON.stringify({ session }) };
      return failure(401, 'this link was used, or is not complete; start `injector dashboard` again');
    }
    if (!access.allows(bearer)) return failure(401, noSession);
    if (path === '/question' && actions)
      return answered(() => actions.ask(query.get('tag') ?? '', query.get('verb') ?? ''));
    if (path === '/check') return lookUp(query, (workload, namespace) => check(client, workload, namespace));
    if (path === '/diff') return predict(query, closed);
    const report = Object.hasOwn(reports, path) ? reports[path] : undefined;
    if (report === undefined) return failure(404, `there is no data at ${path}`);
    return { status: 200, json: await report.after(Number(query.get('after')), closed) };
  };
  if (actions === undefined) return { answer };
  const act = ({ path, query, bearer }: DataRequest): Promise<DataAnswer> => {
    if (!access.allows(bearer)) return Promise.resolve(failure(401, noSession));
    if (path !== '/action') return Promise.resolve(failure(404, `there is no action at ${path}`));
    return answered(async () => ({ message: await actions.carryOut(query.get('question') ?? '') }));
  };
  return { answer, act };
}

const noSession = 'this page has no session; open the link that `injector dashboard` prints';

/** Looks up the workload of a query, for example `?namespace=shop&workload=Deployment/web`. */
function lookUp(
  query: URLSearchParams,
  find: (workload: string, namespace: string) => Promise<unknown>,
): Promise<DataAnswer> {
  return answered(() => find(query.get('workload') ?? '', query.get('namespace') ?? ''));
}

async function answered(compute: () => Promise<unknown>): Promise<DataAnswer> {
  try {
    return { status: 200, json: reportJson(await compute()) };
  } catch (error) {
    return failure(422, messageOf(error));
  }
}

/** @throws Error if the workload has no pods to check */
async function check(client: ApiClient, workload: string, namespace: string): Promise<unknown> {
  const [report] = await checkObject(client, workload, namespace);
  if (report === undefined) throw new Error(`${workload} in namespace ${namespace} has no pods to check`);
  return report;
}

function failure(status: number, message: string): DataAnswer {
  return { status, json: reportJson({ failure: message }) };
}
