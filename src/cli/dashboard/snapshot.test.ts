import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DashboardSnapshot, OverviewReport } from '../../api/dashboard-reports.ts';
import { dashboardCommand } from '../commands/dashboard.ts';
import { recordingTerminal } from '../testdata/recording-terminal.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';

describe('injector dashboard --snapshot', () => {
  const cluster = new RevisionCluster();
  const { path, write } = temporaryFolder();
  before(async () => {
    await cluster.start();
    cluster.addRevision('1-24');
    cluster.breakSpec('1-24', '</script><img src=x onerror=alert(1)>');
  });
  after(() => cluster.stop());

  async function snapshotTo(file: string): Promise<void> {
    const { terminal } = recordingTerminal();
    const argv = ['--snapshot', file, '--kubeconfig', cluster.kubeconfig];
    await dashboardCommand(terminal, path()).parseAsync(argv, { from: 'user' });
  }

  it('writes one file with the page and the reports, whose policy allows nothing else', async () => {
    for (const [name, text] of Object.entries({ 'page.css': 'a{}', 'dashboard.css': 'b{}', 'page.js': 'show()' }))
      write(name, text);
    cluster.memory.faults.push(refusal('GET', 'events', 500, 'no events'));
    const file = join(path(), 'ticket.html');
    await snapshotTo(file);
    const html = readFileSync(file, 'utf8');
    const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    assert.match(html, /content="default-src 'none'; /);
    assert.ok(html.includes(`script-src ${hash('show()')}; style-src ${hash('a{}\nb{}')};`));
    assert.ok(!html.includes('<img'));
    const [, data = ''] =
      /<script type="application\/json" id="snapshot">(.*)<\/script>\n<script>show\(\)/.exec(html) ?? [];
    const { at, answers } = JSON.parse(data) as DashboardSnapshot;
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    const overview = answers['overview']?.report as OverviewReport;
    assert.equal(overview.revisions[0]?.message, '</script><img src=x onerror=alert(1)>');
    assert.match(answers['workloads']?.failure ?? '', /no events/);
  });

  it('says what to do without the files of the page, or without the folder', async () => {
    await assert.rejects(snapshotTo(join(path(), 'none', 'a.html')), /--snapshot .*: its directory does not exist/);
    const { terminal } = recordingTerminal();
    const argv = ['--snapshot', '-', '--kubeconfig', cluster.kubeconfig];
    const missing = dashboardCommand(terminal, join(path(), 'none')).parseAsync(argv, { from: 'user' });
    await assert.rejects(
      missing,
      /the snapshot cannot be made: its page is not in .*; use the npm package or the kubectl plugin/,
    );
  });
});
