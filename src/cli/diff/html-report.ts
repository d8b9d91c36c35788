import { jsonText, printable } from '../../api/printable-text.ts';
import { escapeHtml, sourceHash } from '../report/html.ts';
import { plural } from '../report/write-report.ts';
import type { DiffReport } from './diff-report.ts';
import { readPage } from './read-page.ts';

/**
 * Returns a report as one HTML file that loads nothing else (page.html). Pods contain texts of
 * hostile authors: the file has the report as JSON, and its script only writes text nodes.
 */
export function htmlReport(report: DiffReport): string {
  const page = readPage();
  const { from, to, summary } = report;
  const { workloads, pods, changed, failing, estimated, changedByOthers, unknown } = summary;
  const numbers = `${plural(workloads, 'workload')} with ${plural(pods, 'pod')} compared: ${changed} changed, \
${failing} refused, ${estimated} estimated, ${changedByOthers} also changed by other webhooks, \
${unknown} not compared.`;
  const values: Readonly<Record<string, string>> = {
    policy: `default-src 'none'; style-src ${sourceHash('style', page)}; script-src ${sourceHash('script', page)}; \
base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    from: escapeHtml(printable(from)),
    to: escapeHtml(printable(to)),
    numbers: escapeHtml(numbers),
    report: inScript(jsonText(report)),
  };
  return page.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

/** Escapes every character of JSON with which a script element could end. */
function inScript(json: string): string {
  return json.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}
