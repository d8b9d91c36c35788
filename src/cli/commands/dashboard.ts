import { join } from 'node:path';
import type { Command } from 'commander';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { Access } from '../dashboard/access.ts';
import { serveReports } from '../dashboard/serve-reports.ts';
import { parsePort } from '../option-values.ts';
import { openInBrowser, serveSite } from '../pages/open-page.ts';
import { webFolder } from '../pages/web-folder.ts';
import type { Terminal } from '../terminal.ts';

interface DashboardOptions extends ClusterOptions {
  readonly port: number;
  readonly open: boolean;
}

/** `injector dashboard`: serves a page that shows the live cluster, until interrupted. */
export function dashboardCommand(terminal: Terminal, folder = join(webFolder, 'dashboard')): Command {
  return clusterCommand(
    'dashboard',
    'show rollouts, certificates, workloads and problems of the live cluster in a browser; read only',
  )
    .option('--port <port>', 'the port; 0 for any free port', parsePort, 0)
    .option('--no-open', 'only print the link, do not open it in the default browser')
    .action(({ port, open, ...options }: DashboardOptions) =>
      withCluster(options, async (client) => {
        const stop = new AbortController();
        const access = new Access();
        const answer = serveReports(client, access, stop.signal);
        const files = ['page.css', 'dashboard.css', 'page.js'];
        try {
          const pages = await serveSite('dashboard', { folder, files, answer }, port);
          const link = `${pages.url}#token=${access.token}`;
          terminal.out(`the dashboard is at ${link} (the link works once; Ctrl-C stops the dashboard)`);
          if (open) openInBrowser(terminal, link);
          await new Promise<void>((resolve) => terminal.onInterrupt(resolve));
          await pages.close();
        } finally {
          stop.abort();
        }
      }),
    );
}
