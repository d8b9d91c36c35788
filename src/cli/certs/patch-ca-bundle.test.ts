import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { issueAuthority } from '../../certs/issue-certificate.ts';
import { generateRsaKeyPair } from '../../certs/key-pair.ts';
import { randomBytes } from 'node:crypto';
import { patchCaBundle } from './patch-ca-bundle.ts';

const head =
  'apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata:\n  name: one\n';

describe('certs patch-ca-bundle', () => {
  let ca: string;
  let value: string;
  before(async () => {
    const options = { now: new Date('2026-01-01T00:00:00Z'), duration: 86_400_000, random: randomBytes };
    ca = issueAuthority('test', await generateRsaKeyPair(2048), options).certificatePem;
    value = Buffer.from(ca).toString('base64');
  });

  /** `<before|after>` marks a text and its replacement. */
  const rows: [string, string][] = [
    [
      'replaces a placeholder and keeps comments',
      `# a comment\n${head}webhooks:\n- name: a # why\n  clientConfig:\n    caBundle: <\${CA_BUNDLE}|VALUE> # later\n    service: {name: s}\n`,
    ],
    ['keeps quotes', `${head}webhooks:\n  - clientConfig:\n      caBundle: "<|VALUE>"\n      url: https://x\n`],
    ['adds a missing value', `${head}webhooks:\n- clientConfig:\n    caBundle:<| VALUE>\n    url: https://x\n`],
    [
      'adds a missing key to every webhook of two documents',
      `${head}webhooks:\n- clientConfig:\n    url: https://x\n<|    caBundle: VALUE\n>- clientConfig:\n    url: https://y\n<|    caBundle: VALUE\n>---\n${head.replace('Mutating', 'Validating')}webhooks:\n- clientConfig: {url: https://z<|, "caBundle": "VALUE">}\n`,
    ],
    [
      'replaces a value in a JSON List that also contains another object',
      '{"apiVersion":"v1","kind":"List","items":[{"kind":"Service"},{"kind":"MutatingWebhookConfiguration","webhooks":[{"clientConfig":{"caBundle":"<Cg==|VALUE>","url":"https://x"}}]}]}',
    ],
    ['fills an empty clientConfig', `${head}webhooks: [{clientConfig: {<|"caBundle": "VALUE">}}]\n`],
  ];
  for (const [name, both] of rows) {
    it(name, () => {
      const [text, expected] = ['$1', '$2'].map((part) => both.replaceAll(/<([^|]*)\|([^>]*)>/g, part)) as [
        string,
        string,
      ];
      const patched = patchCaBundle(text, ca);
      assert.equal(patched.text, expected.replaceAll('VALUE', value));
      const read = parseAllDocuments(patched.text).map((document) => JSON.stringify(document.toJS()));
      assert.equal(read.join('').split(`"caBundle":"${value}"`).length - 1, patched.webhooks);
    });
  }

  it('separates authorities by line breaks', () => {
    const text = `${head}webhooks: [{clientConfig: {caBundle: a}}]\n`;
    const twice = patchCaBundle(text, `${ca.trimEnd()}${ca}`).text;
    assert.equal(twice, patchCaBundle(text, ca).text);
  });

  const refusals: [name: string, text: string, message: RegExp, pem?: string][] = [
    ['text without a webhook', 'kind: Pod\n', /^standard input: contains no webhook/],
    ['an empty text', '', /^standard input: contains no webhook/],
    ['invalid YAML', 'a: [', /^standard input: not YAML/],
    [
      'a webhook without clientConfig',
      `${head}webhooks: [{name: a}]`,
      /webhooks\[0\] of MutatingWebhookConfiguration "one" has no clientConfig/,
    ],
    ['a file without a certificate', `${head}webhooks: [{clientConfig: {}}]`, /^--ca: the file contains no PEM/, 'x'],
  ];
  for (const [name, text, message, pem] of refusals) {
    it(`refuses ${name}`, () => {
      assert.throws(() => patchCaBundle(text, pem ?? ca), { name: 'UsageError', message });
    });
  }
});
