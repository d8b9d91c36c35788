/**
 * Opens reports of `injector diff -o html` in Chromium, from disk and offline, in light and dark,
 * wide and narrow. Checks accessibility (axe), the security policy, search, keyboard and speed.
 * `--screenshots` writes docs/images/ instead.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { onPath } from '../../packaging/base.ts';
import type { DiffReport } from '../../src/cli/diff/diff-report.ts';
import { htmlReport } from '../../src/cli/diff/html-report.ts';
import { empty, hostile, large, typical } from './reports.ts';

const axeOptions = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] } };
const [maximumMilliseconds, maximumBytes] = [200, 220_000];
const folder = mkdtempSync(join(tmpdir(), 'injector-html-report-'));
const mistakes: string[] = [];
const figures = { pages: 0, checks: 0, rules: 0, milliseconds: 0 };

function expect(isTrue: boolean, mistake: string): void {
  figures.checks += 1;
  if (!isTrue) mistakes.push(mistake);
}

/** Opens a report. An error, a violation of the policy or a request elsewhere is a mistake. */
async function open(browser: Browser, name: string, report: DiffReport, theme: string, width: number): Promise<Page> {
  const file = join(folder, 'report.html');
  writeFileSync(file, htmlReport(report));
  const page = await browser.newPage();
  page.on('request', (request) => {
    expect(request.url() === pathToFileURL(file).href, `${name}: request to ${request.url()}`);
  });
  page.on('console', (message) => expect(message.type() !== 'error', `${name}: console: ${message.text()}`));
  page.on('pageerror', (error) => expect(false, `${name}: ${String(error)}`));
  await page.evaluateOnNewDocument(`var violations = [];
    addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));`);
  await page.setViewport({ width, height: 900 });
  await page.setOfflineMode(true);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(pathToFileURL(file).href);
  figures.pages += 1;
  return page;
}

/** Returns a function that checks that an expression is true in the page. */
const checksOf = (page: Page, name: string) => async (expression: string, mistake: string) => {
  const result = await page.evaluate(expression);
  expect(result === true, `${name}: ${mistake}: ${expression} is ${JSON.stringify(result)}`);
};

async function checkPage(page: Page, name: string, report: DiffReport): Promise<void> {
  const check = checksOf(page, name);
  const counts = "['.row', 'script', 'img, svg, iframe, a:not(.skip), [onclick], [onload], [onerror]']";
  const elements = `String(${counts}.map((each) => document.querySelectorAll(each).length))`;
  await check(`${elements} === '${report.workloads.length},2,0'`, 'other elements');
  await page.evaluate("[...document.querySelectorAll('.row')].slice(0, 4).forEach((row) => row.click())");
  await check("document.querySelectorAll('.details:not([hidden]) .facts').length > 0", 'no row opens');
  const texts = JSON.stringify([report.from, report.to].map((text) => text.slice(0, 12)));
  await check(`${texts}.every((text) => document.title.includes(text))`, 'the title');
  await check('document.documentElement.scrollWidth <= innerWidth', 'the page is wider than the window');
  await check("!('wasRun' in window) && violations.length === 0", 'a hostile text ran or violated the policy');
  await page.evaluate(axe.source);
  const result = (await page.evaluate(`axe.run(${JSON.stringify(axeOptions)})`)) as AxeResults;
  figures.rules = Math.max(figures.rules, result.passes.length);
  for (const { id, nodes } of result.violations)
    mistakes.push(`${name}: axe: ${id}: ${nodes[0]?.failureSummary ?? ''} ${nodes[0]?.html ?? ''}`);
}

const shownRows = "[...document.querySelectorAll('.row')].filter((row) => row.offsetHeight > 0).length";

/** Compares the rows that a search shows with the report, and measures the time with layout. */
async function checkSearch(page: Page, name: string, { workloads }: DiffReport): Promise<void> {
  for (const search of ['team-7', 'service-49', '', 'startupprobe of3', 'TEAM-3/deployment', 'no such name']) {
    const count = workloads.filter(({ namespace, kind, name, changes }) => {
      const text = `${namespace}/${kind}/${name} ${changes.map((change) => change.path).join(' ')}`.toLowerCase();
      return search.split(' ').every((word) => text.includes(word.toLowerCase()));
    }).length;
    const input = (text: string) => `(() => { const started = performance.now();
      const search = document.getElementById('search'); search.value = ${JSON.stringify(text)};
      search.dispatchEvent(new Event('input', { bubbles: true })); document.body.offsetHeight;
      return performance.now() - started; })()`;
    const times: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      await page.evaluate(input(search === '' ? 'nothing' : ''));
      times.push((await page.evaluate(input(search))) as number);
    }
    // Other processes share the machine.
    const milliseconds = Math.min(...times);
    figures.milliseconds = Math.max(figures.milliseconds, milliseconds);
    expect(milliseconds < maximumMilliseconds, `${name}: search "${search}" takes ${milliseconds} ms`);
    const check = checksOf(page, `${name}: search "${search}"`);
    await check(`${shownRows} === ${count}`, 'other rows');
    await check(`document.getElementById('status').textContent.startsWith('${count} ')`, 'the number');
  }
}

async function checkKeyboard(page: Page, name: string, { summary }: DiffReport): Promise<void> {
  const check = checksOf(page, name);
  const isFocused = (selector: string) => `document.activeElement.matches('${selector}') &&
    getComputedStyle(document.activeElement).outlineStyle === 'solid'`;
  const press = async (...keys: ('Tab' | 'Enter' | 'Space')[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.reload();
  await press('Tab');
  await check(isFocused('.skip'), 'the skip link has no focus');
  await press('Enter', 'Tab');
  await check(isFocused('#search'), 'the search has no focus after the skip link');
  await page.keyboard.type('payments startup');
  await check(`${shownRows} === 2`, 'other rows');
  await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Enter');
  await check(isFocused('.row[aria-expanded=true]'), 'the first row is not open');
  await press('Space');
  await check(isFocused('.row[aria-expanded=false]'), 'the first row is not closed');
  await page.evaluate("document.querySelector('form button').focus()");
  await press('Enter');
  await check(`${shownRows} === ${summary.workloads}`, 'the filter is not clear');
  const { changed, failing, estimated, changedByOthers: others } = summary;
  for (const [value, count] of Object.entries({ changed, failing, estimated, others, '': summary.workloads })) {
    await page.select('#only', value);
    await check(`${shownRows} === ${count}`, `filter "${value}" shows other rows`);
  }
  await page.evaluate("document.querySelectorAll('.group button')[2].focus()");
  await press('Enter');
  await check(`document.getElementById('kind').value === 'resources' && ${shownRows} < 12`, 'the button of a group');
}

async function checkAll(browser: Browser): Promise<void> {
  for (const [title, report] of Object.entries({ empty, typical, large, hostile }))
    for (const theme of ['light', 'dark'])
      for (const width of [1280, 360]) {
        const name = `${title}, ${theme}, ${width} px`;
        const page = await open(browser, name, report, theme, width);
        await checkPage(page, name, report);
        if (report === large) await checkSearch(page, name, report);
        if (report === typical) await checkKeyboard(page, name, report);
        await page.close();
      }
}

async function takeScreenshots(browser: Browser): Promise<void> {
  mkdirSync('docs/images', { recursive: true });
  for (const theme of ['light', 'dark']) {
    const page = await open(browser, theme, typical, theme, 1280);
    await page.screenshot({ path: `docs/images/diff-${theme}.png`, clip: { x: 0, y: 0, width: 1280, height: 1400 } });
    const { size } = statSync(`docs/images/diff-${theme}.png`);
    expect(size <= maximumBytes, `diff-${theme}.png has ${size} bytes`);
  }
}

const chromium = onPath('chromium');
if (chromium === undefined) {
  console.log('html-report: did not run; install the Debian package chromium');
  // .ci/run installs it.
  if (process.env['CI'] === 'true' || process.argv.includes('--screenshots')) process.exitCode = 1;
} else {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await launch({ executablePath: chromium, args: [...args, '--disable-gpu', '--hide-scrollbars'] });
  try {
    await (process.argv.includes('--screenshots') ? takeScreenshots(browser) : checkAll(browser));
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
  for (const mistake of mistakes.slice(0, 40)) console.log(mistake);
  const { pages, checks, rules, milliseconds } = figures;
  const words = `${pages} pages, ${checks} checks, ${rules} rules of axe, search in ${milliseconds.toFixed(0)} ms`;
  console.log(`html-report: ${words}, ${mistakes.length} mistakes`);
  if (mistakes.length > 0) process.exitCode = 1;
}
