import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { noResources } from '../../explain/pod-resources.ts';
import type { DiffReport, InjectionOutcome } from './diff-report.ts';
import { htmlReport } from './html-report.ts';

const tricks = ['</script>', '<!--', '<script>', ']]>', '\u2028', '{{report}}', "$'", '"', "'", '&quot;', 'onload='];
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...tricks, ...tricks.map((trick) => trick.toUpperCase())), { maxLength: 4 }).map(String),
);
const outcome: fc.Arbitrary<InjectionOutcome> = fc.record({
  outcome: fc.constantFrom('Injected', 'NotInjected', 'Refused'),
  configuration: text,
  reason: text,
  message: text,
});
const change = { kind: fc.constant('other' as const), path: text, before: fc.jsonValue(), after: text };
const resources = fc.constant({ before: noResources, after: noResources });
const reports: fc.Arbitrary<DiffReport> = fc.record({
  from: text,
  to: text,
  summary: fc.constant({ workloads: 2, pods: 3, changed: 1, failing: 1, estimated: 0, changedByOthers: 1 }),
  groups: fc.constant([]),
  resources,
  estimatedResources: resources,
  workloads: fc.array(
    fc.record({
      namespace: text,
      kind: text,
      name: text,
      pods: fc.nat(),
      before: outcome,
      after: outcome,
      changes: fc.array(fc.record(change), { maxLength: 2 }),
      isEstimated: fc.boolean(),
      changedByOthers: fc.array(text, { maxLength: 2 }),
      notes: fc.array(text, { maxLength: 2 }),
      resources,
    }),
    { maxLength: 2 },
  ),
  notes: fc.array(text, { maxLength: 2 }),
});
const empty = fc.sample(reports, { numRuns: 1, seed: 1 })[0]!;
const page = htmlReport({ ...empty, from: 'revision <1>', to: '"2"', workloads: [], notes: [] });

describe('the HTML report', () => {
  it('keeps hostile texts in the data, where a script can read them', () => {
    const tagsOf = (html: string): string[] => html.match(/<[!/]?[a-z-]+/gi) ?? [];
    const property = fc.property(reports, (report) => {
      const html = htmlReport(report);
      const [, data = ''] = /<script type="application\/json" id="report">(.*?)<\/script/is.exec(html) ?? [];
      assert.deepEqual(JSON.parse(data), JSON.parse(JSON.stringify(report)));
      assert.doesNotMatch(data, /[<>&\u2028\u2029]/);
      assert.deepEqual(tagsOf(html), tagsOf(page));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('permits only its own style and script', () => {
    const [, policy = ''] = /Policy"\s+content="(.*?)"/s.exec(page) ?? [];
    for (const name of ['style', 'script']) {
      const [, content = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(page) ?? [];
      assert.ok(content.length > 1000);
      const hash = createHash('sha256').update(content).digest('base64');
      assert.ok(policy.includes(`; ${name}-src 'sha256-${hash}';`), policy);
    }
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(page, /https?:|\b(?:src|href)="(?!#)|url\(|@import|innerHTML|\{\{/);
  });

  it('has its title and numbers without a script', () => {
    assert.match(page, /<title>What changes: revision &#60;1&#62; → &#34;2&#34;<\/title>/);
    assert.match(
      page,
      /<noscript>\s*<p>\s*2 workloads with 3 pods compared: 1 changed, 1 refused, 0 estimated, 1 also/,
    );
  });
});
