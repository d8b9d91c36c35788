import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { TortureReport, TortureResult } from './run-torture.ts';
import { torturePage } from './torture-page.ts';

const tricks = ['</style>', '<script>', '<!--', '"', "'", '&quot;', ' onload=', '<img src=x onerror=1>', '\u202E'];
const texts = fc.array(fc.oneof(fc.constantFrom(...tricks), fc.string({ unit: 'binary' })), { maxLength: 5 });

/** Returns a report with a text in every place where an injector or a user can write one. */
function reportOf(text: string): TortureReport {
  const result = (each: TortureResult['result']): TortureResult => {
    return { case: text, about: text, result: each, injected: true, milliseconds: 12, problems: [text, text] };
  };
  return {
    webhookConfiguration: text,
    webhook: text,
    time: text,
    configurationProblems: [text],
    results: [result('Passed'), result('Failed'), result('NotApplicable')],
  };
}

const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];
const withoutStyle = (html: string): string => html.replace(/<style>.*<\/style>/s, '');

describe('the page of injector torture', () => {
  const page = torturePage(reportOf('a'));

  it('keeps hostile texts outside of tags', () => {
    const property = fc.property(texts, (parts) => {
      const html = withoutStyle(torturePage(reportOf(parts.join(''))));
      assert.deepEqual(tagsOf(html), tagsOf(withoutStyle(page)));
      assert.doesNotMatch(html.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('permits only its own style, has no script and loads nothing', () => {
    const [, policy = ''] = /Policy"\s+content="(.*?)"/s.exec(page) ?? [];
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    assert.ok(style.length > 1000);
    const hash = createHash('sha256').update(style).digest('base64');
    assert.equal(policy, `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
    assert.doesNotMatch(page, /<script|https?:|\b(?:src|href|style)=|url\(|@import|\son\w+=/);
  });

  it('has the figures, the problems of the webhook, and a row for each pod with what failed', () => {
    const plain = torturePage({ ...reportOf('a & b'), configurationProblems: [] }).replaceAll(/\s+/g, ' ');
    assert.match(plain, /<dt>passed<\/dt><dd>1<\/dd>.*class="bad"><dt>failed<\/dt><dd>1<\/dd>/);
    assert.match(plain, /<b>a &#38; b<\/b>.*<p>a &#38; b<\/p>.*<span class="badge bad">failed<\/span>.*>12 ms</);
    assert.doesNotMatch(plain, /<h2>Problems of the webhook/);
    assert.match(page, /<h2>Problems of the webhook<\/h2>\s*<ul class="panel refused">\s*<li>a<\/li>/);
  });
});
