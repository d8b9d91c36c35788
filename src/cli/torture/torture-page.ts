import { printable } from '../../api/printable-text.ts';
import { readPage } from '../diff/read-page.ts';
import { elementText, escapeHtml, sourceHash } from '../report/html.ts';
import type { TortureReport, TortureResult } from './run-torture.ts';

/**
 * Returns a report as one HTML file that loads nothing, in the style of `injector diff -o html`.
 * Messages of an injector may be hostile: the file has them as escaped text, and no script.
 */
export function torturePage(report: TortureReport): string {
  const { webhookConfiguration, webhook, time, configurationProblems, results } = report;
  const page = readPage();
  const count = (result: TortureResult['result']): number => results.filter((each) => each.result === result).length;
  const [passed, failed, notApplicable] = [count('Passed'), count('Failed'), count('NotApplicable')];
  const slowest = Math.max(0, ...results.map(({ milliseconds }) => milliseconds));
  const name = text(webhookConfiguration);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta
      http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src ${sourceHash('style', page)}; base-uri 'none'; form-action 'none'"
    />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Hard pods: ${name}</title>
    <style>${elementText('style', page)}</style>
  </head>
  <body>
    <header><h1><small>injector torture</small>${name}</h1></header>
    <main>
      <dl class="numbers">
        ${[
          numberOf(passed, 'passed'),
          numberOf(failed, 'failed', failed > 0),
          numberOf(notApplicable, 'not applicable on this API server'),
          numberOf(configurationProblems.length, 'problems of the webhook', configurationProblems.length > 0),
          numberOf(slowest, 'ms for the slowest pod'),
        ].join('\n        ')}
      </dl>
${configurationProblems.length === 0 ? '' : problemsOf(configurationProblems)}
      <h2>Pods</h2>
      <p>Each pod is a dry run: without the injector, with it, and once more as the injector has made it.</p>
      <div class="panel">
        <table>
          <thead><tr><th scope="col">Pod</th><th scope="col">Result</th><th scope="col">Injected</th><th scope="col" class="number">Time</th></tr></thead>
          <tbody>
${results.map(rowOf).join('\n')}
          </tbody>
        </table>
      </div>
    </main>
    <footer>Webhook ${text(webhook)}, ${text(time)}</footer>
  </body>
</html>
`;
}

const text = (value: string): string => escapeHtml(printable(value));

function numberOf(value: number, label: string, isBad = false): string {
  return `<div${isBad ? ' class="bad"' : ''}><dt>${label}</dt><dd>${value}</dd></div>`;
}

function problemsOf(problems: readonly string[]): string {
  const items = problems.map((problem) => `        <li>${text(problem)}</li>`);
  return ['      <h2>Problems of the webhook</h2>', '      <ul class="panel refused">', ...items, '      </ul>'].join(
    '\n',
  );
}

const badges: Readonly<Record<TortureResult['result'], readonly [style: string, words: string]>> = {
  Passed: ['badge', 'passed'],
  Failed: ['badge bad', 'failed'],
  NotApplicable: ['badge warn', 'not applicable'],
};

function rowOf({ case: name, about, result, injected, milliseconds, problems }: TortureResult): string {
  const [style, words] = badges[result];
  const details = problems.map((problem) => `<p>${text(problem)}</p>`).join('');
  return (
    `            <tr><th scope="row"><b>${text(name)}</b><p class="muted">${text(about)}</p>${details}</th>` +
    `<td><span class="${style}">${words}</span></td><td>${injected ? 'yes' : 'no'}</td><td class="number">${milliseconds} ms</td></tr>`
  );
}
