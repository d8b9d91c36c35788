/**
 * Opens the dashboard in Chromium on a cluster in memory with 10,000 pods, and measures first
 * paint, filter and memory. Scenario `dashboard` shows that it works on a real API server.
 * `--screenshots` writes docs/images/ instead.
 */
import { type Browser, launch, type Page } from 'puppeteer-core';
import { filterTime } from '../../e2e/scenarios/dashboard/dashboard-page.ts';
import { onPath } from '../../packaging/base.ts';
import { dashboardCommand } from '../../src/cli/commands/dashboard.ts';
import { recordingTerminal } from '../../src/cli/testdata/recording-terminal.ts';
import { RevisionCluster } from '../../src/cli/testdata/revision-cluster.ts';
import { paused, promoted, rolledBack, rolloutTag } from '../../src/cli/testdata/rollout-tag.ts';

const folder = 'dist/web/dashboard';
/** The bounds on an idle machine. */
const bounds = { paintMilliseconds: 1500, filterMilliseconds: 100, megabytes: 300 };

/** Fills a cluster with 500 workloads of 20 pods, or as many workloads as pods. */
function fill(cluster: RevisionCluster, workloads: number, pods: number): void {
  const [old = '', current = ''] = ['1-24', '1-25'].map((name) => `${name}.${cluster.addRevision(name).slice(0, 8)}`);
  cluster.addTag('prod', '1-24');
  const [some, failing] = [
    { ready: 120, failing: 0, total: 120 },
    { ready: 6, failing: 9, total: 15 },
  ];
  const ended = { ...rolledBack, step: 1, pods: { stable: some, canary: failing } };
  const moved = { ...promoted, pods: { stable: some, canary: { ready: 0, failing: 0, total: 0 } } };
  for (const [name, state] of Object.entries({ prod: paused, careful: ended, edge: moved }))
    cluster.memory.put('revisiontags', {
      ...rolloutTag(state, { metadata: { name }, status: { observedGeneration: 9 } }),
    });
  for (let index = 0; index < 20; index++) cluster.addNamespace(`team-${index}`, { 'istio.io/rev': 'prod' });
  for (let index = 0; index < pods; index++) {
    const number = index % workloads;
    const app = `service-${number}`;
    const injectedBy = number % 9 === 0 ? undefined : number % 5 === 0 ? current : old;
    cluster.memory.put('pods', podOf(`team-${number % 20}`, app, index, injectedBy));
  }
}

/** Returns a pod of Deployment `app`; `injectedBy` is its configuration (`NAME.HASH8`), if any. */
function podOf(namespace: string, app: string, index: number, injectedBy: string | undefined) {
  const status = JSON.stringify({ revision: injectedBy?.split('.')[0] });
  const annotations =
    injectedBy === undefined ? {} : { 'sidecar.istio.io/status': status, 'sidecar-injector.io/config': injectedBy };
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d9`, uid: app, controller: true };
  const named = { name: `${app}-7d9-${index}`, generateName: `${app}-7d9-`, namespace };
  const labels = { app, 'pod-template-hash': '7d9' };
  const container = { name: 'app', image: `registry.example/${app}:1`, env: [{ name: 'APP', value: app }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...named, labels, annotations, ownerReferences: [owner] },
    spec: { containers: [container, ...(injectedBy === undefined ? [] : [{ ...container, name: 'proxy' }])] },
  };
}

/** Serves a cluster, and calls `act` with a new page and the link. */
async function withDashboard(
  browser: Browser,
  size: { readonly workloads: number; readonly pods: number },
  act: (page: Page, link: string) => Promise<void>,
): Promise<void> {
  const cluster = new RevisionCluster();
  await cluster.start();
  fill(cluster, size.workloads, size.pods);
  let acting: Promise<void> | undefined;
  const page = await browser.newPage();
  const { terminal } = recordingTerminal('', undefined, {
    onOut: (out, interrupt) => {
      acting = act(page, /http:\S+/.exec(out)?.[0] ?? '').finally(interrupt);
    },
  });
  const argv = ['--no-open', '--kubeconfig', cluster.kubeconfig];
  await dashboardCommand(terminal, folder).parseAsync(argv, { from: 'user' });
  await acting;
  await page.close();
  await cluster.stop();
}

async function show(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = '#${view}'`);
  await page.waitForSelector(`main[data-view=${view}] h2`, { timeout: 60_000 });
}

async function measure(page: Page, link: string) {
  await page.goto(link);
  await page.waitForSelector('#revisions', { timeout: 60_000 });
  const paint = Number(await page.evaluate('performance.now()'));
  await show(page, 'workloads');
  const times: number[] = [];
  for (const text of ['service-12', 'team-3 service', 'no such name', ''])
    times.push(Number(await page.evaluate(filterTime(text))));
  const { JSHeapUsedSize = 0 } = await page.metrics();
  const rows = Number(await page.evaluate("document.querySelectorAll('#workloads tbody tr').length"));
  const found = String(await page.evaluate("document.querySelector('#found').innerText"));
  return { paint, filter: Math.max(...times), megabytes: JSHeapUsedSize / 1e6, rows, found };
}

async function takeScreenshots(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.waitForSelector('#revisions');
  for (const [view, theme, height] of [
    ['overview', 'light', 1180],
    ['workloads', 'dark', 650],
  ] as const) {
    await page.setViewport({ width: 1280, height });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await show(page, view);
    // The bars move for 0.4 s.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 600))');
    await page.screenshot({ path: `docs/images/dashboard-${view}.png` });
  }
}

const chromium = onPath('chromium');
if (chromium === undefined) {
  console.log('dashboard: did not run; install the Debian package chromium');
  // .ci/run installs it.
  if (process.env['CI'] === 'true' || process.argv.includes('--screenshots')) process.exitCode = 1;
} else {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await launch({ executablePath: chromium, args: [...args, '--disable-gpu', '--hide-scrollbars'] });
  const results: string[] = [];
  const mistakes: string[] = [];
  try {
    if (process.argv.includes('--screenshots')) {
      await withDashboard(browser, { workloads: 60, pods: 240 }, takeScreenshots);
    } else {
      for (const workloads of [500, 10_000])
        await withDashboard(browser, { workloads, pods: 10_000 }, async (page, link) => {
          const { paint, filter, megabytes, rows, found } = await measure(page, link);
          results.push(
            `${workloads} workloads: first paint ${paint.toFixed(0)} ms, filter ${filter.toFixed(0)} ms, ${megabytes.toFixed(0)} MB, ${rows} rows drawn, ${found}`,
          );
          if (!/^(\d+) of \1 workloads$/.test(found)) mistakes.push(`the page shows ${found}`);
          if (rows > 100) mistakes.push(`the page draws ${rows} rows`);
          if (paint > bounds.paintMilliseconds) mistakes.push(`the first paint takes ${paint.toFixed(0)} ms`);
          if (filter > bounds.filterMilliseconds) mistakes.push(`a filter takes ${filter.toFixed(0)} ms`);
          if (megabytes > bounds.megabytes) mistakes.push(`the page has ${megabytes.toFixed(0)} MB`);
        });
    }
  } finally {
    await browser.close();
  }
  for (const mistake of mistakes) console.log(mistake);
  console.log(`dashboard: ${results.join('; ')}; ${mistakes.length} mistakes`);
  if (mistakes.length > 0) process.exitCode = 1;
}
