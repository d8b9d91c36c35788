/**
 * Opens reports of `injector diff -o html` and `injector torture -o html` in Chromium, from disk
 * and offline, in light and dark, wide and narrow. Checks accessibility (axe), the security policy,
 * search, keyboard and speed. `--screenshots` writes docs/images/ instead.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { onPath } from '../../packaging/base.ts';
import type { DiffReport } from '../../src/cli/diff/diff-report.ts';
import { htmlReport } from '../../src/cli/diff/html-report.ts';
import type { TortureReport } from '../../src/cli/torture/run-torture.ts';
import { torturePage } from '../../src/cli/torture/torture-page.ts';
import { checkKeyboard, checkPage, checkSearch, checkTorturePage, expect, figures, mistakes } from './page-checks.ts';
import { empty, hostile, hostileTorture, large, tortured, typical, unsure } from './reports.ts';

const maximumBytes = 200_000;
const folder = mkdtempSync(join(tmpdir(), 'injector-html-report-'));

/** Opens a report. An error, a violation of the policy or a request elsewhere is a mistake. */
async function open(
  browser: Browser,
  name: string,
  report: DiffReport | TortureReport,
  theme: string,
  width: number,
): Promise<Page> {
  const file = join(folder, 'report.html');
  writeFileSync(file, 'webhook' in report ? torturePage(report) : htmlReport(report));
  const page = await browser.newPage();
  page.on('request', (request) => {
    expect(request.url() === pathToFileURL(file).href, `${name}: request to ${request.url()}`);
  });
  page.on('console', (message) => expect(message.type() !== 'error', `${name}: console: ${message.text()}`));
  page.on('pageerror', (error) => expect(false, `${name}: ${String(error)}`));
  await page.evaluateOnNewDocument(`var violations = [];
    addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective));`);
  // The browser and axe skip rows outside of the window.
  await page.setViewport({ width, height: report === large ? 900 : 9000 });
  await page.setOfflineMode(true);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto(pathToFileURL(file).href);
  figures.pages += 1;
  return page;
}

async function checkAll(browser: Browser): Promise<void> {
  for (const [title, report] of Object.entries({ empty, unsure, typical, large, hostile }))
    for (const theme of ['light', 'dark'])
      for (const width of [1280, 360]) {
        const name = `${title}, ${theme}, ${width} px`;
        const page = await open(browser, name, report, theme, width);
        await checkPage(page, name, report);
        if (report === large) await checkSearch(page, name, report);
        if (report === typical) await checkKeyboard(page, name, report);
        await page.close();
      }
  for (const [title, report] of Object.entries({ tortured, hostileTorture }))
    for (const theme of ['light', 'dark'])
      for (const width of [1280, 360]) {
        const name = `${title}, ${theme}, ${width} px`;
        const page = await open(browser, name, report, theme, width);
        await checkTorturePage(page, name, report);
        await page.close();
      }
}

async function takeScreenshots(browser: Browser): Promise<void> {
  mkdirSync('docs/images', { recursive: true });
  for (const theme of ['light', 'dark']) {
    const page = await open(browser, theme, typical, theme, 1280);
    await page.screenshot({ path: `docs/images/diff-${theme}.png`, clip: { x: 0, y: 0, width: 1280, height: 1270 } });
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
