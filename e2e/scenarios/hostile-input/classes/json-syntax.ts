import { bytes, chunked, healthyText, hostile, hostileText, word, type HostileClass } from '../materials.ts';

/** The API server shows the refusal to whoever created the pod, and Istio answers so too. */
const refused = '200 refused';

/** Inserts text at the first place that the pattern matches. */
function insert(text: string, at: RegExp, what: string): string {
  return text.replace(at, (match) => match + what);
}

/** What is not JSON. */
export const jsonSyntax: readonly HostileClass[] = [
  hostileText('json-cut-short', refused, (random) => {
    const text = healthyText(random);
    return text.slice(0, 1 + random.below(text.length - 1));
  }),
  hostileText(
    'json-text-behind',
    refused,
    (random) => `${healthyText(random)}${random.pick(['}', ']', ',', '"', 'x'])}${word(random)}`,
  ),
  hostileText(
    'json-two-documents',
    refused,
    (random) => `${healthyText(random)}${random.pick(['', '\n', ' ', '\n---\n'])}${healthyText(random)}`,
  ),
  hostileText('json-single-quotes', refused, (random) => healthyText(random).replaceAll('"', "'")),
  hostileText('json-bare-keys', refused, (random) => healthyText(random).replaceAll(/"(\w+)":/g, '$1:')),
  hostileText('json-comments', refused, (random) =>
    insert(
      healthyText(random),
      /[,{]/,
      random.pick([`/* ${word(random)} */`, `// ${word(random)}\n`, `# ${word(random)}\n`]),
    ),
  ),
  hostileText('json-needless-commas', refused, (random) =>
    healthyText(random).replace(random.pick([/(?=[}\]])/, /(?<=[{[])/, /,/]), ',,'),
  ),
  hostileText('json-bad-numbers', refused, (random) => {
    const number = random.pick(['01', '+1', '.5', '1.', 'NaN', 'Infinity', '-', '0x1F', '1e', '1_000', '--2', '1e+']);
    return healthyText(random).replace(/(?<="containerPort":)\d+/, number);
  }),
  hostileText('json-bad-escapes', refused, (random) => {
    const escape = random.pick(['\\x41', '\\u12', '\\uZZZZ', '\\', "\\'", '\\0', '\\U00000041']);
    return healthyText(random).replace(/(?<="example.com\/note":"\w+)"/, `${escape}"`);
  }),
  // JSON wants them escaped (RFC 8259, section 7).
  hostileText('json-control-bytes-in-strings', refused, (random) => {
    const control = String.fromCharCode(random.below(32));
    return insert(healthyText(random), /"example.com\/note":"\w/, control);
  }),
  hostileText('json-nul-bytes', refused, (random) => {
    const nul = '\0'.repeat(1 + random.below(8));
    const text = healthyText(random);
    return random.pick([nul + text, text + nul, insert(text, /:/, nul)]);
  }),
  // JSON text has none (RFC 8259, section 8.1), and Go refuses it too.
  hostileText('json-byte-order-mark', refused, (random) => `\uFEFF${healthyText(random)}`),
  // JSON text is UTF-8 (RFC 8259, section 8.1).
  hostileText('json-utf-16', refused, (random) => {
    const little = Buffer.from(`${random.chance(0.5) ? '\uFEFF' : ''}${healthyText(random)}`, 'utf16le');
    return random.chance(0.5) ? little : little.swap16();
  }),
  // Each bad byte becomes U+FFFD, as in Go's encoding/json; what it stands in is the API server's to judge.
  hostileText('json-invalid-utf-8', '200 patched', (random) => {
    const bad = random.pick([[0xff], [0xc0, 0xaf], [0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]);
    const text = healthyText(random);
    const at = text.indexOf('"example.com/note":"') + '"example.com/note":"'.length;
    return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bad), Buffer.from(text.slice(at))]);
  }),
  // Half a character is a legal escape in JSON and nothing here depends on it.
  hostileText('json-lone-surrogates', '200 patched', (random) => {
    const half = `\\u${(0xd800 + random.below(0x800)).toString(16)}`;
    return insert(healthyText(random), random.pick([/"example.com\/note":"/, /"app":"/, /"value":"/]), half);
  }),
  // No random bytes are a review.
  hostileText('json-random-bytes', refused, (random) => bytes(random, 1 + random.below(2000))),
  // What is still a review is answered as what it has become.
  hostileText('json-flipped-bytes', [refused, '200 patched', '200 allowed'], (random) => {
    const content = Buffer.from(healthyText(random));
    for (let flips = 1 + random.below(8); flips > 0; flips--) content[random.below(content.length)] = random.below(256);
    return content;
  }),
  hostileText('json-scalars-and-lists', refused, (random) => {
    const text = healthyText(random);
    return random.pick([
      JSON.stringify(text),
      `[${text}]`,
      `${random.next() * 1e9}`,
      `"${word(random, 20)}"`,
      `[${random.next()},null,true]`,
    ]);
  }),
  hostileText('not-json-at-all', refused, (random) => {
    const name = word(random, 12);
    return random.pick([
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`,
      `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;${name}</r>`,
      `kind=AdmissionReview&uid=${name}`,
      `<html><body>${name}</body></html>`,
      `\u001f\u008b\u0008${name}`,
    ]);
  }),
  // How a body is cut into chunks says nothing of its meaning.
  hostile('json-in-random-chunks', '200 patched', (random, target) => ({
    bytes: chunked(random, target, healthyText(random)),
  })),
];
