import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { noResources } from '../../explain/pod-resources.ts';
import type { DiffReport } from './diff-report.ts';
import { htmlReport } from './html-report.ts';

const tricks = ['</script>', '<!--', '<SCRIPT>', ']]>', '\u2028', '{{report}}', "$'", '"', "'", '&quot;', ' onload='];
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(fc.constantFrom(...tricks), fc.string()), { maxLength: 5 }).map((parts) => parts.join('')),
);

/** Returns a report with a text in every place where an author can write a text. */
function reportOf(text: string): DiffReport {
  const outcome = { outcome: 'Refused', configuration: text, reason: text, message: text } as const;
  const change = { kind: 'other', path: text, before: { [text]: text }, after: [text] } as const;
  const resources = { before: noResources, after: noResources };
  const example = { ...change, namespace: text, workload: text };
  const named = { namespace: text, kind: text, name: text, pods: 3, isEstimated: true, changedByOthers: [text] };
  return {
    from: text,
    to: text,
    summary: {
      workloads: 2,
      pods: 3,
      changed: 1,
      failing: 1,
      estimated: 0,
      changedByOthers: 1,
      podsInPlace: 0,
      podsByRestart: 0,
      unknown: 4,
    },
    groups: [{ kind: 'other', workloads: 1, pods: 3, otherChanges: 0, otherFields: 0, example }],
    resources,
    estimatedResources: resources,
    workloads: [{ ...named, before: outcome, after: outcome, changes: [change], notes: [text], resources }],
    notes: [text],
  };
}

const page = htmlReport({ ...reportOf('a'), from: 'revision <1>', to: '"2"' });

describe('the HTML report', () => {
  it('keeps hostile texts in the data, where a script can read them', () => {
    const tagsOf = (html: string): string[] => html.match(/<[!/]?[a-z-]+/gi) ?? [];
    const property = fc.property(texts, (text) => {
      const html = htmlReport(reportOf(text));
      const [, data = ''] = /<script type="application\/json" id="report">(.*?)<\/script/is.exec(html) ?? [];
      assert.deepEqual(JSON.parse(data), JSON.parse(JSON.stringify(reportOf(text))));
      assert.doesNotMatch(data.trim(), /[<>&\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.deepEqual(tagsOf(html), tagsOf(page));
    });
    fc.assert(property, { numRuns: 300 });
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
    assert.match(page, /<noscript>\s*<p>\s*2 workloads with 3 pods compared: 1 changed, 1 refused, .* 4 not compared/);
  });
});
