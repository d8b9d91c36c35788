/**
 * Drives the playground in Chromium, in light and dark, wide and narrow: examples, edits, a hostile
 * template, an engine that hangs, links, accessibility (axe) and the security policy. Compares the
 * engine's results in Chromium with those in Node. `--screenshots` writes docs/images/ instead.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { onPath } from '../../packaging/base.ts';
import { playgroundFiles } from '../../src/cli/commands/playground.ts';
import { servePages } from '../../src/cli/pages/serve-pages.ts';
import { compareRows } from './rows.ts';
import type { Side } from '../../src/web/engine/evaluate.ts';
import { offeredExamples } from '../site/pages.ts';
import { checkAccessibility, expect, figures, mistakes } from '../html-report/page-checks.ts';

const folder = 'dist/web/playground';
const outcome = "document.querySelector('#outcome')?.dataset.outcome";

/** Opens the playground. An error, a violation of the policy or another request is a mistake. */
async function open(browser: Browser, url: string, theme: string, width: number): Promise<Page> {
  const page = await browser.newPage();
  const { origin } = new URL(url);
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(`${origin}/`) || request.url() === 'data:,';
    expect(isOurs || request.url().startsWith('data:image/'), `request to ${request.url()}`);
  });
  page.on('console', (message) => expect(message.type() !== 'error', `console: ${message.text()}`));
  page.on('pageerror', (error) => expect(false, `page: ${String(error)}`));
  await page.evaluateOnNewDocument(`var violations = [];
    addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));`);
  await page.setViewport({ width, height: 1200 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(url);
  figures.pages += 1;
  return page;
}

const isSettled = "document.querySelector('.results')?.getAttribute('aria-busy') === 'false'";
/**
 * Replaces the text of an editor as a user does. Deletes first: Chromium would keep the style of
 * the selected text in an attribute, which the policy refuses.
 */
async function type(page: Page, editor: Side, text: string): Promise<void> {
  await page.evaluate(`${contentOf(editor)}.focus()`);
  await page.keyboard.down('Control');
  await page.keyboard.press('KeyA');
  await page.keyboard.up('Control');
  await page.keyboard.press('Backspace');
  const session = await page.createCDPSession();
  await session.send('Input.insertText', { text });
  await session.detach();
}

const contentOf = (editor: Side): string =>
  `document.querySelectorAll('.editor')[${['config', 'pod', 'other'].indexOf(editor)}].shadowRoot.querySelector('.cm-content')`;

/** Waits until an expression is true in the page; a mistake if it stays false. */
async function until(page: Page, expression: string, mistake: string): Promise<void> {
  const isTrue = await page.waitForFunction(expression, { timeout: 30_000 }).then(
    () => true,
    () => false,
  );
  expect(
    isTrue,
    `${mistake}: ${String(await page.evaluate("document.querySelector('.results').innerText.slice(0, 300)"))}`,
  );
}

const textOf = (selector: string): string => `document.querySelector('${selector}')?.innerText`;

const example = (name: string): string => readFileSync(`examples/${name}.yaml`, 'utf8');

async function checkExamples(page: Page): Promise<void> {
  // The name of a file of the catalog is also that of its InjectorConfig.
  const catalog = readdirSync('catalog').flatMap((file) => /^(.*)\.yaml$/.exec(file)?.[1] ?? []);
  const injectors = {
    hello: 'default',
    'revision-tag-canary': '1-24',
    'istio-1.1-release': 'istio-1-1',
    'kubesphere-logsidecar': 'logsidecar',
    ...Object.fromEntries(catalog.map((name) => [name, name])),
  };
  const offered = await page.evaluate("[...document.querySelectorAll('#example option')].map(({ value }) => value)");
  const expected = ['', ...Object.keys(injectors), 'not-selected'];
  const linked = Object.keys(injectors).sort().join();
  expect([...offeredExamples].sort().join() === linked, `the site does not link to ${linked}`);
  expect(
    (offered as string[]).sort().join() === expected.sort().join(),
    `the examples are ${String(offered)}, not ${expected.join()}`,
  );
  for (const [name, injector] of Object.entries({ ...injectors, 'not-selected': undefined })) {
    const text = injector === undefined ? 'no webhook selects the pod' : `injected by InjectorConfig ${injector} `;
    await page.select('#example', name);
    await until(page, `${textOf('#outcome')}.includes('${text}') && ${isSettled}`, `example ${name}: not "${text}"`);
  }
}

async function checkEdits(page: Page): Promise<void> {
  const [config, pod] = [example('hello'), example('sleep')];
  await type(page, 'config', config);
  const optedOut = pod.replace(/^( +)app: sleep\n(?= +spec:)/m, '$&$1sidecar.istio.io/inject: "false"\n');
  await type(page, 'pod', optedOut);
  await until(page, `${outcome} === 'NotInjected'`, 'an edited pod that opts out');
  await type(page, 'pod', pod.replace('name: sleep\n        image', 'name: awake\n        image'));
  await until(page, `${outcome} === 'Injected' && ${textOf('#pod')}.includes('awake')`, 'an edited pod');
  const added = "[...document.querySelectorAll('#pod ins')].map((line) => line.innerText).join('')";
  await until(page, `${added}.includes('- name: hello')`, 'the marks of the added container');
  await type(page, 'config', config.replace('{{ .Values.image }}', '{{ nothing }}'));
  await until(page, `${textOf('#problems')}?.includes('nothing')`, 'a finding of lint');
  await page.click('#problems button');
  const line = `${contentOf('config')}.querySelector('.cm-activeLine').innerText`;
  await until(page, `${line}.includes('{{ nothing }}')`, 'the button does not move to the line');
  await type(page, 'config', 'a: [');
  await until(page, `${textOf('#problems')}?.includes('did not find expected node content')`, 'invalid YAML');
}

async function checkComparison(page: Page): Promise<void> {
  const image = '{{ annotation .ObjectMeta "team/image" .Values.image }}';
  const config = example('hello').replace('{{ .Values.image }}', image);
  await type(page, 'config', config);
  await type(page, 'pod', example('sleep'));
  await page.click('#compare');
  await until(page, "document.querySelector('#changes')?.children.length === 0", 'equal configurations');
  await type(page, 'other', config.replace('cpu: 10m', 'cpu: 20m'));
  await until(page, `/resources.requests.cpu\\s+- 10m\\s+\\+ 20m/.test(${textOf('#changes')})`, 'a changed request');
  const verdict = 'annotation team/image: authors may set a value';
  await until(page, `${textOf('#annotations')}.includes('${verdict}')`, 'the verdict of Safe');
  await page.click('#compare');
  await until(page, "document.querySelector('#changes') === null", 'the end of the comparison');
}

/** Measures the longest pause of the page's own thread while an expression becomes true. */
async function checkHostile(page: Page): Promise<number> {
  await page.evaluate(`var longest = 0; var last = performance.now(); setInterval(() => {
    longest = Math.max(longest, performance.now() - last); last = performance.now(); }, 10);`);
  const rounds = '{{ range until 100000 }}';
  const bomb = `${rounds}${rounds}${rounds}x{{ end }}{{ end }}{{ end }}`;
  await type(page, 'pod', example('sleep'));
  await type(page, 'config', example('hello').replace('{{ .Values.image }}', bomb));
  await until(page, `${outcome} === 'Refused' && ${isSettled}`, 'a template that does not end');
  const paused = (await page.evaluate('longest')) as number;
  expect(paused < 1000, `the page did not react for ${paused.toFixed(0)} ms`);
  return paused;
}

/** Replaces the engine by one that never answers, and later by the real one. */
async function checkDeadline(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  let isHanging = true;
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isEngine = request.url().endsWith('/engine.js');
    if (isEngine && isHanging)
      void request.respond({ contentType: 'text/javascript', body: 'onmessage = () => { for (;;); };' });
    else void request.continue();
  });
  await page.goto(url);
  await until(page, `${textOf('[role=alert]')}?.includes('stopped after 10 seconds')`, 'the deadline');
  isHanging = false;
  await page.select('#example', 'revision-tag-canary');
  await until(page, `${outcome} === 'Injected' && ${textOf('[role=alert]')} === undefined`, 'a new engine');
  await page.close();
}

async function checkLink(browser: Browser, url: string): Promise<void> {
  const page = await open(browser, url, 'light', 1280);
  await until(page, isSettled, 'the first example');
  await type(page, 'pod', example('sleep').replaceAll('name: sleep', 'name: ünï-😀'));
  await page.click('#link');
  await until(page, "location.hash.startsWith('#1.')", 'the link');
  const link = page.url();
  await page.close();
  const other = await open(browser, link, 'dark', 1280);
  await until(other, `${contentOf('pod')}.innerText.includes('ünï-😀') && ${isSettled}`, 'the texts of the link');
  await other.goto(`${url}#example=vault-agent`);
  await until(other, `${textOf('#outcome')}.includes('InjectorConfig vault-agent ')`, 'the link of an example');
  const chosen = String(await other.evaluate("document.querySelector('#example').value"));
  expect(chosen === 'vault-agent', `the page says that ${chosen} is shown`);
  await other.goto(link.slice(0, -9));
  await until(other, `${textOf('header [role=status]')}.includes('cannot be read')`, 'a link that was cut');
  await other.close();
}

async function check(browser: Browser, url: string): Promise<string> {
  let paused = 0;
  for (const theme of ['light', 'dark'])
    for (const width of [360, 1280, 2000]) {
      const page = await open(browser, url, theme, width);
      const name = `${theme}, ${width} px`;
      await until(page, `${outcome} === 'Injected' && ${isSettled}`, `${name}: the first example`);
      const isNarrow = 'document.documentElement.scrollWidth <= innerWidth';
      expect((await page.evaluate(isNarrow)) === true, `${name}: the page is wider than the window`);
      if (width === 1280) {
        await checkExamples(page);
        await checkEdits(page);
        await checkComparison(page);
        paused = Math.max(paused, await checkHostile(page));
      }
      // After the edits, the page also shows findings.
      await checkAccessibility(page, name);
      const violations = (await page.evaluate('violations')) as string[];
      expect(violations.length === 0, `${name}: ${violations.join()}`);
      await page.close();
    }
  await checkLink(browser, url);
  await checkDeadline(browser, url);
  const page = await browser.newPage();
  const { pods, templates, different } = await compareRows(page, process.env['GOLDEN']);
  for (const each of different) expect(false, each);
  expect(pods >= 1000, `only ${pods} pods were compared`);
  return `longest pause ${paused.toFixed(0)} ms, ${pods} pods and ${templates} templates as in Node`;
}

async function takeScreenshots(browser: Browser, url: string): Promise<void> {
  for (const theme of ['light', 'dark']) {
    const page = await open(browser, url, theme, 1280);
    await until(page, `${outcome} === 'Injected' && ${isSettled}`, 'the first example');
    await page.screenshot({
      path: `docs/images/playground-${theme}.png`,
      clip: { x: 0, y: 0, width: 1280, height: 1100 },
    });
    // The pictures of all widths are for people who look at them; no document shows them.
    mkdirSync('.build/screenshots', { recursive: true });
    for (const width of [360, 1280, 2000]) {
      await page.setViewport({ width, height: 900 });
      await page.screenshot({ path: `.build/screenshots/playground-${theme}-${width}.png`, fullPage: true });
    }
    await page.close();
  }
}

const chromium = onPath('chromium');
if (chromium === undefined) {
  console.log('playground: did not run; install the Debian package chromium');
  // .ci/run installs it.
  if (process.env['CI'] === 'true' || process.argv.includes('--screenshots')) process.exitCode = 1;
} else {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await launch({ executablePath: chromium, args: [...args, '--disable-gpu', '--hide-scrollbars'] });
  const pages = await servePages({ folder, files: playgroundFiles }, 0);
  let figure = '';
  try {
    if (process.argv.includes('--screenshots')) await takeScreenshots(browser, pages.url);
    else figure = await check(browser, pages.url);
  } finally {
    await browser.close();
    await pages.close();
  }
  for (const mistake of mistakes.slice(0, 40)) console.log(mistake);
  const { pages: count, checks, rules } = figures;
  console.log(
    `playground: ${count} pages, ${checks} checks, ${rules} rules of axe, ${figure}, ${mistakes.length} mistakes`,
  );
  if (mistakes.length > 0) process.exitCode = 1;
}
