import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { Access } from '../dashboard/access.ts';
import { Actions } from '../dashboard/actions.ts';
import { reportsOf } from '../dashboard/reports.ts';
import { serveReports } from '../dashboard/serve-reports.ts';
import { snapshotPage, takeSnapshot } from '../dashboard/snapshot.ts';
import { writeNamedFile } from '../files.ts';
import { parsePort } from '../option-values.ts';
import { openInBrowser, pageFailure, serveSite } from '../pages/open-page.ts';
import { webFolder } from '../pages/web-folder.ts';
import type { Terminal } from '../terminal.ts';

interface DashboardOptions extends ClusterOptions {
  readonly port: number;
  readonly open: boolean;
  readonly snapshot?: string;
  readonly allowActions?: true;
}

const styles = ['page.css', 'dashboard.css'];

/** `injector dashboard`: serves a page that shows the live cluster, until interrupted. */
export function dashboardCommand(terminal: Terminal, folder = join(webFolder, 'dashboard')): Command {
  return clusterCommand(
    'dashboard',
    'show rollouts, certificates, workloads and problems of the live cluster in a browser; read only unless --allow-actions is given',
  )
    .option('--port <port>', 'the port; 0 for any free port', parsePort, 0)
    .option('--no-open', 'only print the link, do not open it in the default browser')
    .addOption(
      new Option(
        '--allow-actions',
        'let the page resume, promote, abort and retry rollouts, each after a question',
      ).conflicts('snapshot'),
    )
    .option('--snapshot <file>', 'write what the page shows now to one HTML file, and serve nothing')
    .action((options: DashboardOptions) =>
      withCluster(options, async (client) => {
        if (options.snapshot === undefined) return serve(client, folder, options, terminal);
        const snapshot = await takeSnapshot(reportsOf(client, client.server), new Date());
        const page = await snapshotPage(folder, styles, snapshot).catch((error: unknown) => {
          throw pageFailure('the snapshot cannot be made', folder, error);
        });
        writeNamedFile(terminal, '--snapshot', options.snapshot, page);
      }),
    );
}

async function serve(
  client: ApiClient,
  folder: string,
  { port, open, allowActions }: DashboardOptions,
  terminal: Terminal,
) {
  const stop = new AbortController();
  const access = new Access();
  const actions = allowActions && new Actions(client, (line) => terminal.out(line));
  const functions = serveReports(client, access, stop.signal, actions);
  try {
    const pages = await serveSite('dashboard', { folder, files: [...styles, 'page.js'], ...functions }, port);
    const link = `${pages.url}#token=${access.token}`;
    terminal.out(`the dashboard is at ${link} (the link works once; Ctrl-C stops the dashboard)`);
    if (open) openInBrowser(terminal, link);
    await new Promise<void>((resolve) => terminal.onInterrupt(resolve));
    await pages.close();
  } finally {
    stop.abort();
  }
}
