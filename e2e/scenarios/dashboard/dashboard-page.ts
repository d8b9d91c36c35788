import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { onPath } from '../../../packaging/base.ts';
import { waitFor } from '../../harness/wait-for.ts';

const rules = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] } };
export const views = ['overview', 'certificates', 'workloads', 'problems'] as const;
type View = (typeof views)[number];
/** More than the elements of a view that can have the focus. */
const mostPresses = 100;

/** The milliseconds until a search has changed the drawn rows. */
export const filterTime = (text: string): string => `(() => { const input = document.querySelector('#search');
  const began = performance.now(); input.value = ${JSON.stringify(text)};
  input.dispatchEvent(new Event('input', { bubbles: true }));
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    document.body.offsetHeight; resolve(performance.now() - began); }))); })()`;

/** Starts Debian's Chromium. @throws Error that names the package */
export function startBrowser(): Promise<Browser> {
  const executablePath = onPath('chromium');
  if (executablePath === undefined) throw new Error('there is no chromium: install the Debian package chromium');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return launch({ executablePath, args: [...args, '--disable-gpu', '--hide-scrollbars'] });
}

/** The dashboard in a browser. Errors, other requests and violations of the policy are mistakes. */
export class DashboardPage {
  readonly page: Page;
  readonly mistakes: string[] = [];
  #rules = 0;

  private constructor(page: Page) {
    this.page = page;
  }

  /** @param link with the token, which the page uses up */
  static async open(browser: Browser, link: string): Promise<DashboardPage> {
    const dashboard = new DashboardPage(await browser.newPage());
    const { page, mistakes } = dashboard;
    const { origin, protocol } = new URL(link);
    const own = protocol === 'file:' ? link : `${origin}/`;
    page.on('request', (request) => {
      const isOurs = request.url().startsWith(own) || request.url() === 'data:,';
      if (!isOurs) mistakes.push(`request to ${request.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error') mistakes.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => mistakes.push(`page: ${String(error)}`));
    await page.evaluateOnNewDocument(`var violations = [];
      addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));`);
    await page.goto(link);
    return dashboard;
  }

  /** The number of rules of axe that a view passed. */
  get rules(): number {
    return this.#rules;
  }

  /** Shows a view, and waits until it has data. */
  async show(view: View): Promise<void> {
    await this.page.evaluate(`location.hash = '#${view}'`);
    await this.until(`document.querySelector('main[data-view=${view}] h2')`);
  }

  /** Waits until an expression is true in the page; the error shows the page. */
  until(expression: string): Promise<unknown> {
    return waitFor(`${expression} in the page`, async () => {
      if ((await this.page.evaluate(`Boolean(${expression})`)) === true) return true;
      throw new Error(`it shows: ${String(await this.page.evaluate('document.body.innerText.slice(0, 600)'))}`);
    });
  }

  /** Returns the text of an element. */
  async text(selector: string): Promise<string> {
    return String(await this.page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`));
  }

  /** Searches the view of workloads. */
  async search(text: string): Promise<void> {
    await this.page.evaluate("document.querySelector('#search').select()");
    await this.page.type('#search', text);
  }

  /** Searches a workload, and clicks on it as soon as it is the only one. */
  async choose(text: string): Promise<true> {
    await this.search(text);
    await this.until("document.querySelectorAll('.link').length === 1");
    await this.page.click('.link');
    return true;
  }

  /** Returns the milliseconds until a search has changed the drawn rows. */
  async filterTime(text: string): Promise<number> {
    return Number(await this.page.evaluate(filterTime(text)));
  }

  /** Presses Tab until an element has the focus, and shows that. */
  async tabTo(selector: string): Promise<void> {
    const hasFocus = `document.activeElement.matches(${JSON.stringify(selector)})`;
    for (let presses = 0; presses < mostPresses; presses++) {
      await this.page.keyboard.press('Tab');
      if ((await this.page.evaluate(hasFocus)) !== true) continue;
      const outline = await this.page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
      if (outline !== 'solid') this.mistakes.push(`${selector}: the focus is not visible`);
      return;
    }
    throw new Error(`${mostPresses} presses of Tab do not reach ${selector}`);
  }

  /** Asks for an action of a tag. */
  async ask(tag: string, verb: string): Promise<void> {
    const button = `[data-tag=${tag}] [data-verb=${verb}]`;
    await this.until(`document.querySelector('${button}')`);
    await this.page.click(button);
    await this.until("document.querySelector('#agree')");
  }

  /** Agrees to the asked action. Returns the question, after the operator's answer. */
  async agree(): Promise<string> {
    const asked = await this.text('dialog');
    await this.page.click('#agree');
    await this.until("!['', 'Waiting for the operator…'].includes(document.querySelector('#action-result').innerText)");
    const answer = await this.page.evaluate("document.querySelector('#action-result.injected')?.innerText");
    if (answer === undefined) throw new Error(`the action failed: ${await this.text('#action-result')}`);
    await this.page.keyboard.press('Escape');
    return asked;
  }

  /**
   * Checks what is shown now in both themes and three widths; adds what is wrong to `mistakes`.
   * Takes pictures if SCREENSHOTS names a folder.
   */
  async checkView(name: string): Promise<void> {
    for (const theme of ['light', 'dark'])
      for (const width of [360, 1280, 2000]) {
        await this.page.setViewport({ width, height: 900 });
        await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
        await this.#checkNow(`${name}, ${theme}, ${width} px`);
        const { SCREENSHOTS: folder } = process.env;
        if (folder === undefined) continue;
        mkdirSync(folder, { recursive: true });
        await this.page.screenshot({ path: join(folder, `${name.replaceAll(' ', '-')}-${theme}-${width}.png`) });
      }
  }

  async #checkNow(name: string): Promise<void> {
    if ((await this.page.evaluate('document.documentElement.scrollWidth <= innerWidth')) !== true)
      this.mistakes.push(`${name}: the page is wider than the window`);
    await this.page.evaluate(axe.source);
    const { passes, violations } = (await this.page.evaluate(`axe.run(${JSON.stringify(rules)})`)) as AxeResults;
    this.#rules = Math.max(this.#rules, passes.length);
    for (const { id, nodes } of violations)
      this.mistakes.push(`${name}: axe: ${id}: ${nodes[0]?.failureSummary ?? ''} ${nodes[0]?.html ?? ''}`);
    const blocked = (await this.page.evaluate('violations')) as string[];
    for (const each of blocked) this.mistakes.push(`${name}: blocked ${each}`);
  }
}
