import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { applyObject } from '../harness/apply.ts';
import { clusterFlags, injectorOutput, startInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { workload } from '../harness/workload-kinds.ts';
import { barePod, createDeployment, neverScheduled } from '../harness/workloads.ts';
import { Workloads } from './canary/workloads.ts';
import { DashboardPage, startBrowser, views } from './dashboard/dashboard-page.ts';

const say = 'e2e.sidecar-injector.io/say';
const spoken = '<img src=x onerror="window.wasRun = 1"><script>window.wasRun = 1</script>\u202e';
const quoting = `{{ with index .ObjectMeta.Annotations "${say}" }}{{ fail . }}{{ end }}spec: {containers: [{name: a, image: a}]}`;
const speaking = (value: string) => {
  const env = JSON.stringify([{ name: 'SAID', value }]);
  const sidecar = `spec: {containers: [{name: spoken, image: a, env: ${env}}]}`;
  return injectorConfig('speaking', { injection: { templates: { sidecar } } });
};
const count = 8;
const pause = 'UntilResumed';
const analysis = { minimumPods: 1, minReadySeconds: 1 };
const strategy = { canary: { steps: [{ weight: 25, pause }, { weight: 100 }], analysis } };

export const dashboard: Scenario = {
  name: 'dashboard',
  about:
    'injector dashboard shows in Chromium, without a reload, how a rollout pauses, is promoted and rolled back, and a rotation; with --allow-actions, it promotes, aborts, retries and resumes after a question; its views explain and filter workloads; other origins, hosts and tokens are refused, and hostile texts stay texts',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    await context.startReplicas({ webhooks: 1, controllers: 1, flags: ['--drain-seconds=2'] });
    const certificate = { confirmationPeriod: '10s' };
    await applyMarked(client, { v1: 'one', v2: 'two' }, { certificate });
    await applyUntilReady(client, markedConfig('bad', 'three', {}, 'crash'));
    await applyUntilReady(client, injectorConfig('quoting', { injection: { templates: { sidecar: quoting } } }));
    await applyTagUntilReady(client, revisionTag('seen', 'v1', { strategy }));
    const churn = { pods: 2, roundMs: 400 };
    const workloads = await Workloads.open(context, context.requireAudit(), 'seen', count, { churn });
    await createHostile(context);

    const link = await startDashboard(context, '--allow-actions');
    const browser = await startBrowser();
    context.atEnd(() => browser.close());
    await checkRefusals(context, link, await startDashboard(context));
    const shown = await DashboardPage.open(browser, link);
    await context.check('the address keeps no token, and the used token is refused', async () => {
      await shown.until("document.querySelector('#revisions')");
      found(String(await shown.page.evaluate('location.href')), new URL('/', link).href);
      return found(String(await statusOf(link, { path: '/session', bearer: tokenOf(link) })), '401');
    });
    await checkRollout(context, shown);
    await checkRotation(context, shown);
    await checkViews(context, shown, workloads.namespace);
    for (const view of views) {
      await shown.show(view);
      await shown.checkView(view);
    }
    await checkKeyboard(context, shown, workloads.namespace);
    await context.checkNow('the page makes no mistake in both themes, wide and narrow', async () => {
      found(String(await shown.page.evaluate("'wasRun' in window")), 'false');
      return found(shown.mistakes.join('\n'), '');
    });
    await checkSnapshot(context, browser);
    const created = await workloads.checkNoneLost();
    return `a page without a reload showed and moved three rollouts and showed a rotation; ${shown.rules} rules of axe; ${created} pods created`;
  },
};

/** Starts the command. Returns its link. */
async function startDashboard(context: ScenarioContext, ...flags: string[]): Promise<string> {
  const command = startInjector(['dashboard', '--no-open', ...flags, ...clusterFlags(context.cluster)]);
  context.atEnd(() => command.interrupt());
  return waitFor('the link', () => /http:\S+#token=\S+/.exec(command.said())?.[0]);
}

/**
 * Creates a Deployment whose pods are refused with a text that tries to be HTML, one whose new pods
 * would get such a text, and a pod whose owner has it as kind and name.
 */
async function createHostile(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const own = await context.namespace('hostile', { 'istio.io/rev': 'quoting' });
  await client.create(workload('Deployment', own, 'loud', { annotations: { [say]: spoken } }));
  await applyUntilReady(client, speaking('nothing'));
  const stale = await context.namespace('stale', { 'istio.io/rev': 'speaking' });
  await createDeployment(client, stale, 'changed');
  const pod = barePod(stale, 'owned', { spec: neverScheduled });
  const owner = { apiVersion: 'example.com/v1', kind: spoken, name: spoken, uid: 'none', controller: true };
  await client.create({ ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } });
  await applyUntilReady(client, speaking(spoken));
}

const tokenOf = (link: string): string => new URL(link).hash.replace('#token=', '');

interface Sent {
  readonly path: string;
  readonly bearer?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a request that a browser or another program may send. */
function statusOf(link: string, { path, bearer, method = 'GET', headers = {} }: Sent): Promise<number | undefined> {
  const { hostname, port } = new URL(link);
  const authorized = bearer === undefined ? headers : { ...headers, authorization: `Bearer ${bearer}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers: authorized }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

/** @param readOnly the link of a command without `--allow-actions` */
async function checkRefusals(context: ScenarioContext, link: string, readOnly: string): Promise<void> {
  const bearer = tokenOf(link);
  const action = { path: '/action?question=1', bearer, method: 'POST' };
  const { port } = new URL(link);
  const refused: readonly (readonly [number, Sent])[] = [
    [401, { path: '/session', bearer: bearer.replace(/.$/, '') }],
    [401, { path: '/reports/overview?after=0' }],
    [401, { path: '/reports/overview?after=0', bearer }],
    [403, { path: '/session', bearer, headers: { origin: 'http://evil.example' } }],
    [403, { path: '/', headers: { origin: 'null' } }],
    [421, { path: '/session', bearer, headers: { host: `evil.example:${port}` } }],
    [421, { path: '/', headers: { host: `evil.example:${port}` } }],
    [403, action],
    [403, { ...action, headers: { origin: 'http://evil.example' } }],
    [401, { ...action, headers: { origin: new URL(link).origin } }],
    [405, { ...action, method: 'DELETE' }],
    // Without a session, a path is not looked up.
    [401, { path: '/../../etc/passwd' }],
  ];
  await context.checkNow('wrong tokens, foreign origins, rebound hosts and writes are refused', async () => {
    const statuses = await Promise.all(refused.map(([, sent]) => statusOf(link, sent)));
    found(statuses.join(), refused.map(([status]) => status).join());
    const { origin } = new URL(readOnly);
    return found(String(await statusOf(readOnly, { ...action, headers: { origin } })), '405');
  });
}

const card = (what: string): string => `document.querySelector('[data-tag=seen]')${what}`;
const phaseIs = (phase: string): string => card(`?.dataset.phase === '${phase}'`);

async function checkRollout(context: ScenarioContext, shown: DashboardPage): Promise<void> {
  const edit = (to: string) => applyObject(context.client, revisionTag('seen', to, { strategy }));
  await edit('v2');
  await context.check('the page shows the pause of a rollout, its share, and the canary', async () => {
    await shown.until(`${phaseIs('Paused')} && ${card(".querySelector('[aria-current=step]')")}`);
    const text = await shown.text('[data-tag=seen]');
    return /v1 → v2[^]*25 %: 2 of 8 workloads[^]*Canary v2[^]*pods ready[^]*paused/.test(text);
  });
  await context.check('a promotion through the page asks first, and names what will happen', async () => {
    await shown.ask('seen', 'promote');
    await shown.checkView('question');
    const asked = await shown.agree();
    await shown.until(phaseIs('Promoted'));
    return /RevisionTag seen\?[^]*All workloads get revision v2 now[^]*Paused, step 1 of 2, 25 %/.test(asked);
  });
  await edit('v1');
  await context.check('an abort, a retry and a resumption through the page have their effects', async () => {
    await shown.until(phaseIs('Paused'));
    await shown.ask('seen', 'abort');
    const aborted = await shown.agree();
    await shown.until(phaseIs('RolledBack'));
    await shown.ask('seen', 'retry');
    const retried = await shown.agree();
    await shown.until(phaseIs('Paused'));
    await shown.ask('seen', 'resume');
    const resumed = await shown.agree();
    await shown.until(phaseIs('Promoted'));
    const texts = [aborted, retried, resumed].join();
    return /stable revision v2 again[^]*v1 starts again with its first step[^]*pause of step 1 of 2 ends/.test(texts);
  });
  await edit('bad');
  await context.check('the page shows the rollback, where it happened, and what to do', async () => {
    await shown.until(`${phaseIs('RolledBack')} && ${card(".querySelector('.step-rolledBack')")}`);
    return /injector tag retry seen/.test(await shown.text('[data-tag=seen]'));
  });
}

async function checkRotation(context: ScenarioContext, shown: DashboardPage): Promise<void> {
  const { cluster } = context;
  await shown.show('certificates');
  const phase = "document.querySelector('[data-certificate=v1]')?.dataset.phase";
  await shown.until(`${phase} === 'Stable'`);
  await injectorOutput(['certs', 'rotate', 'v1', '--ca', ...clusterFlags(cluster)]);
  await context.check('the page shows the phases of a rotation', async () => {
    await shown.until(`['Publishing', 'Confirming'].includes(${phase})`);
    await shown.until(`['Retiring', 'Stable'].includes(${phase})`);
    return /Authority expires in \d+ d/.test(await shown.text('[data-certificate=v1]'));
  });
}

async function checkViews(context: ScenarioContext, shown: DashboardPage, namespace: string): Promise<void> {
  const { cluster } = context;
  const { page } = shown;
  await shown.show('workloads');
  await context.check('a search leaves one workload', () => shown.choose(`${namespace} work-003`));
  await context.check('a click explains why its new pods are injected', async () => {
    await shown.until("document.querySelector('#check-result')?.dataset.result === 'Injected'");
    return /sidecar-injector-tag-seen\/\S+: called, injects the pod/.test(await shown.text('dialog'));
  });
  await page.keyboard.press('Escape');
  await shown.choose('deployment/changed');
  await context.check('the click also predicts how new pods differ, with a hostile text as a text', async () => {
    await shown.until("document.querySelector('#predicted-diff .changes')");
    await shown.checkView('predicted diff');
    const text = await shown.text('#predicted-diff');
    return /needs a restart[^]*spec\.containers\[spoken\]\.env\[SAID\]\.value\s+nothing\s+<img src=x/.test(text);
  });
  await page.keyboard.press('Escape');
  await shown.search('INVALID');
  await context.check('an owner whose name cannot exist is called INVALID', async () => {
    await shown.until("document.querySelectorAll('.link').length === 1");
    return /^\S+\s+\S+\/INVALID\s+speaking\s/.test(await shown.text('#workloads tbody'));
  });
  await shown.search('loud');
  await context.check('a hostile answer of a template is a text', async () => {
    await shown.until("document.querySelector('#workloads')?.innerText.includes('<img src=x')");
    return found(String(await page.evaluate("document.querySelectorAll('img, #app script').length")), '0');
  });
  await context.namespace('misspelled', { 'istio.io/rev': 'sen' });
  await shown.show('problems');
  const { out } = await startInjector(['analyze', '-o', 'json', ...clusterFlags(cluster)]).end;
  const problems = JSON.parse(out) as { readonly command: string }[];
  await context.check('the problems are those of injector analyze, each with its command', () =>
    shown.until(
      `${JSON.stringify(problems.map(({ command }) => command))}.every((command) =>
        document.querySelector('#problem-list')?.innerText.includes(command))`,
    ),
  );
}

/** Reaches each view and each kind of action with the keys of a keyboard only. */
async function checkKeyboard(context: ScenarioContext, shown: DashboardPage, namespace: string): Promise<void> {
  const { page } = shown;
  const open = async (view: (typeof views)[number]): Promise<void> => {
    await shown.tabTo(`nav a[href='#${view}']`);
    await page.keyboard.press('Enter');
    await shown.until(`document.querySelector('main[data-view=${view}] h2')`);
  };
  const isClosed = "document.querySelector('dialog') === null";
  await context.check('the keyboard alone reaches all views, explains a workload, and asks for an action', async () => {
    await open('certificates');
    await open('problems');
    await shown.tabTo('#problem-list button');
    await open('workloads');
    await shown.tabTo('#search');
    await page.keyboard.type(`${namespace} work-003`);
    await shown.until("document.querySelectorAll('.link').length === 1");
    await shown.tabTo('.link');
    await page.keyboard.press('Enter');
    await shown.until("document.querySelector('#check-result')");
    await shown.tabTo('dialog .command button');
    await page.keyboard.press('Escape');
    await shown.until(`${isClosed} && document.activeElement.matches('.link')`);
    await open('overview');
    await shown.tabTo('[data-tag=seen] [data-verb=retry]');
    await page.keyboard.press('Space');
    await shown.until("document.querySelector('#agree')");
    await shown.tabTo('#agree');
    await page.keyboard.press('Escape');
    return shown.until(isClosed);
  });
}

/** Opens a snapshot from disk. */
async function checkSnapshot(context: ScenarioContext, browser: Browser): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'injector-snapshot-'));
  context.atEnd(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'ticket.html');
  await injectorOutput(['dashboard', '--snapshot', file, ...clusterFlags(context.cluster)]);
  const shown = await DashboardPage.open(browser, pathToFileURL(file).href);
  await context.check('a snapshot opens from disk, shows all views, and connects to nothing', async () => {
    for (const view of views) await shown.show(view);
    await shown.show('overview');
    await shown.until(phaseIs('RolledBack'));
    await shown.checkView('snapshot');
    found(await shown.text('#standing').then((text) => text.slice(0, 14)), 'A snapshot of ');
    return found(shown.mistakes.join('\n'), '');
  });
}
