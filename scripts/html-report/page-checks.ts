import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';
import type { DiffReport } from '../../src/cli/diff/diff-report.ts';
import type { TortureReport } from '../../src/cli/torture/run-torture.ts';

const axeOptions = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] } };
const maximumMilliseconds = 200;
export const mistakes: string[] = [];
export const figures = { pages: 0, checks: 0, rules: 0, milliseconds: 0 };

export function expect(isTrue: boolean, mistake: string): void {
  figures.checks += 1;
  if (!isTrue) mistakes.push(mistake);
}

/** Returns a function that checks that an expression is true in the page. */
const checksOf = (page: Page, name: string) => async (expression: string, mistake: string) => {
  const result = await page.evaluate(expression);
  expect(result === true, `${name}: ${mistake}: ${expression} is ${JSON.stringify(result)}`);
};

export async function checkPage(page: Page, name: string, report: DiffReport): Promise<void> {
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
  await checkAccessibility(page, name);
}

/** Checks a page of `injector torture`, which has no script. */
export async function checkTorturePage(page: Page, name: string, report: TortureReport): Promise<void> {
  const check = checksOf(page, name);
  const counts = "['tbody tr', 'script, img, svg, iframe, a, [onclick], [onload], [onerror]']";
  const elements = `String(${counts}.map((each) => document.querySelectorAll(each).length))`;
  await check(`${elements} === '${report.results.length},0'`, 'other elements');
  await check('document.documentElement.scrollWidth <= innerWidth', 'the page is wider than the window');
  await check("!('wasRun' in window) && violations.length === 0", 'a hostile text ran or violated the policy');
  await checkAccessibility(page, name);
}

/** Runs the rules of axe. */
export async function checkAccessibility(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  const result = (await page.evaluate(`axe.run(${JSON.stringify(axeOptions)})`)) as AxeResults;
  figures.rules = Math.max(figures.rules, result.passes.length);
  for (const { id, nodes } of result.violations)
    mistakes.push(`${name}: axe: ${id}: ${nodes[0]?.failureSummary ?? ''} ${nodes[0]?.html ?? ''}`);
}

const shownRows = "[...document.querySelectorAll('.row')].filter((row) => row.offsetHeight > 0).length";

/** Compares the rows that a search shows with the report, and measures the time with layout. */
export async function checkSearch(page: Page, name: string, { workloads }: DiffReport): Promise<void> {
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

export async function checkKeyboard(page: Page, name: string, { summary }: DiffReport): Promise<void> {
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
