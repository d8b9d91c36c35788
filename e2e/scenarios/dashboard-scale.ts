import { readFileSync } from 'node:fs';
import type { Browser } from 'puppeteer-core';
import { clusterFlags, startInjector } from '../harness/injector-command.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { DashboardPage, startBrowser } from './dashboard/dashboard-page.ts';
import { createPods } from './diff-scale/many-pods.ts';

const [workloads, replicas, namespaces] = [500, 20, 10];
const bounds = { paintMilliseconds: 1500, filterMilliseconds: 100, pageMegabytes: 300 };
type Figures = Readonly<Record<keyof typeof bounds, number>>;

/** How much slower the browser is in the negative control. */
const slowdown = 20;

export const dashboardScale: Scenario = {
  name: 'dashboard-scale',
  about: `injector dashboard shows ${workloads} workloads with ${workloads * replicas} pods after ${bounds.paintMilliseconds} ms, and filters them in ${bounds.filterMilliseconds} ms`,
  ownControlPlane: true,
  destructive: 'it stops the controllers',
  onlyGate: true,
  full: `${workloads} workloads with ${workloads * replicas} pods in Chromium, 3 minutes`,
  run: async (context) => {
    const { client } = context;
    await context.startOperator();
    await applyMarked(client, { v1: 'one' });
    await applyTagUntilReady(client, revisionTag('prod', 'v1'));
    await createPods(context, { workloads, replicas, namespaces, labels: { 'istio.io/rev': 'prod' } });
    const browser = await startBrowser();
    context.atEnd(() => browser.close());

    const began = performance.now();
    const command = startInjector(['dashboard', '--no-open', ...clusterFlags(context.cluster)]);
    context.atEnd(() => command.interrupt());
    const find = () => /http:\S+#token=\S+/.exec(command.said())?.[0];
    const link = await waitFor('the link', find, { interval: 20 });
    const shown = await DashboardPage.open(browser, link);
    await shown.page.waitForSelector('#revisions', { timeout: 120_000 });
    const firstReportMilliseconds = Math.round(performance.now() - began);
    await context.check('the table has every workload, and the view every pod', async () => {
      await shown.show('workloads');
      await shown.until(`document.querySelector('#found').innerText === '${workloads} of ${workloads} workloads'`);
      return (await shown.text('main')).includes(`${workloads * replicas} current`);
    });

    const figures = await measure(shown, browser);
    const commandMegabytes = peakMegabytes(command.pid);
    context.measured({ workloads, pods: workloads * replicas, ...figures, firstReportMilliseconds, commandMegabytes });
    await context.checkNow('first paint, filter and memory of the page are within the bounds', () =>
      none(excesses(figures)),
    );
    await shown.page.emulateCPUThrottling(slowdown);
    const slow = await measure(shown, browser);
    await context.checkNow(`negative control: a browser that is ${slowdown} times slower is outside them`, () => {
      return excesses(slow).length > 0;
    });
    const { paintMilliseconds, filterMilliseconds, pageMegabytes } = figures;
    return `first report ${firstReportMilliseconds} ms after the start; then first paint ${paintMilliseconds} ms, filter ${filterMilliseconds} ms, page ${pageMegabytes} MB, command ${commandMegabytes} MB; slowed down: ${excesses(slow).join(', ')}`;
  },
};

/** Loads the page again, and filters the workloads. */
async function measure(shown: DashboardPage, browser: Browser): Promise<Figures> {
  const { page } = shown;
  await page.evaluate("location.hash = '#overview'");
  await page.reload();
  await page.waitForSelector('#revisions', { timeout: 60_000 });
  const paintMilliseconds = Math.round(Number(await page.evaluate('performance.now()')));
  await shown.show('workloads');
  const times: number[] = [];
  for (const text of ['w12', 'current v1', 'no such name', '']) times.push(await shown.filterTime(text));
  return {
    paintMilliseconds,
    filterMilliseconds: Math.round(Math.max(...times)),
    pageMegabytes: await rendererMegabytes(browser),
  };
}

function excesses(figures: Figures): string[] {
  return (Object.keys(bounds) as (keyof Figures)[])
    .filter((name) => figures[name] > bounds[name])
    .map((name) => `${name} is ${figures[name]}, above ${bounds[name]}`);
}

/** Returns the memory of the largest process that draws pages. */
async function rendererMegabytes(browser: Browser): Promise<number> {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  return Math.max(...renderers.map(({ id }) => megabytesIn(`/proc/${id}/smaps_rollup`, /^Pss: +(\d+) kB$/m)));
}

/** Returns the largest memory that a process has had. */
function peakMegabytes(pid: number | undefined): number {
  return megabytesIn(`/proc/${pid}/status`, /^VmHWM:\s+(\d+) kB$/m);
}

/** Returns a figure of a file of Linux in megabytes of 10^6 bytes. */
function megabytesIn(file: string, figure: RegExp): number {
  return Math.round((Number(figure.exec(readFileSync(file, 'utf8'))?.[1]) * 1024) / 1e6);
}
