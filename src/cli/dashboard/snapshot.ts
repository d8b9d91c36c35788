import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DashboardSnapshot } from '../../api/dashboard-reports.ts';
import { messageOf } from '../files.ts';
import { reportJson } from './live-report.ts';
import type { ReportFunctions } from './reports.ts';

/** Computes all reports once; a report that fails has the reason instead. */
export async function takeSnapshot(reports: ReportFunctions, at: Date): Promise<DashboardSnapshot> {
  const answers = await Promise.all(
    Object.entries(reports).map(async ([name, compute]: [string, () => Promise<unknown>]) => {
      const answer = await compute().then(
        (report) => ({ version: 1, report }),
        (error: unknown) => ({ version: 1, failure: messageOf(error) }),
      );
      return [name, answer] as const;
    }),
  );
  return { at: at.toISOString(), answers: Object.fromEntries(answers) };
}

/**
 * Returns the page as one file that contains its styles, its script and the reports. It opens from
 * disk: its policy allows only this script and these styles, and no connections.
 * @param folder the folder of the page's files
 */
export async function snapshotPage(folder: string, styles: readonly string[], snapshot: DashboardSnapshot) {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const script = await read('page.js');
  const style = (await Promise.all(styles.map(read))).join('\n');
  // A text in JSON cannot end the element that contains it.
  const data = reportJson(snapshot).replaceAll('<', '\\u003c');
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8" />',
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    '<meta name="viewport" content="width=device-width, initial-scale=1" />',
    '<meta name="color-scheme" content="light dark" />',
    '<title>Sidecar injector dashboard</title>',
    '<link rel="icon" href="data:," />',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="app"></div>',
    `<script type="application/json" id="snapshot">${data}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
