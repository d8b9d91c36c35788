import type { DashboardReports, OverviewReport, ProblemsReport } from '../../api/dashboard-reports.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { readCertificateReports } from '../certs/certs.ts';
import { analyze } from '../commands/analyze.ts';
import { readInstallation } from '../usage/installation.ts';
import type { OperatorHealth } from '../usage/operator-health.ts';
import { readUsage } from '../usage/read-usage.ts';
import { overviewReport } from './overview.ts';
import { workloadsReport } from './workloads.ts';

/** Computes each report of the dashboard. */
export type ReportFunctions = { readonly [Name in keyof DashboardReports]: () => Promise<DashboardReports[Name]> };

/**
 * Returns the functions that compute the reports.
 * @param server the URL of the API server
 */
export function reportsOf(
  client: Pick<ApiClient, 'list' | 'listAll' | 'find'>,
  server: string,
  readHealth?: (classes: readonly string[]) => Promise<OperatorHealth>,
): ReportFunctions {
  return {
    overview: async (): Promise<OverviewReport> => {
      const installation = await readInstallation(client, readHealth);
      return { server, ...overviewReport(installation, await readUsage(client, installation)) };
    },
    certificates: () => readCertificateReports(client, []),
    workloads: () => workloadsReport(client),
    problems: async (): Promise<ProblemsReport> => {
      const { findings, notes } = await analyze(client, undefined);
      return { problems: findings, notes };
    },
  };
}
