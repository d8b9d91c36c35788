import { chunked, hostile, hostileText, portNumber } from '../materials.ts';

/** The API server shows the refusal to the pod's creator. Istio also answers with a refusal. */
const refused = '200 refused';

/** Classes of bodies that are not JSON, or are unusual JSON. */
export const jsonSyntax = [
  hostileText('json-cut-short', refused, (random) => {
    const text = random.healthyText();
    return text.slice(0, 1 + random.below(text.length - 1));
  }),
  hostileText('json-text-behind', refused, (random) =>
    [random.healthyText(), random.pick(['}', ']', ',', '"', 'x']), random.word()].join(''),
  ),
  hostileText('json-two-documents', refused, (random) =>
    [random.healthyText(), random.healthyText()].join(random.pick(['', '\n', ' ', '\n---\n'])),
  ),
  hostileText('json-single-quotes', refused, (random) => random.healthyText().replaceAll('"', "'")),
  hostileText('json-bare-keys', refused, (random) => random.healthyText().replaceAll(/"(\w+)":/g, '$1:')),
  hostileText('json-comments', refused, (random) => {
    const comments = [`/* ${random.word()} */`, `// ${random.word()}\n`, `# ${random.word()}\n`];
    return random.healthyTextWith(/[,{]/, random.pick(comments));
  }),
  hostileText('json-needless-commas', refused, (random) =>
    random.healthyText().replace(random.pick([/(?=[}\]])/, /(?<=[{[])/, /,/]), ',,'),
  ),
  hostileText('json-bad-numbers', refused, (random) => {
    const number = random.pick(['01', '+1', '.5', '1.', 'NaN', 'Infinity', '-', '0x1F', '1e', '1_000', '--2', '1e+']);
    return random.healthyText().replace(portNumber, number);
  }),
  hostileText('json-bad-escapes', refused, (random) => {
    const escape = random.pick(['\\x41', '\\u12', '\\uZZZZ', '\\', "\\'", '\\0', '\\U00000041']);
    return random.healthyText().replace(/(?<="example.com\/note":"\w+)"/, `${escape}"`);
  }),
  // JSON requires an escape for control characters (RFC 8259, section 7).
  hostileText('json-control-bytes-in-strings', refused, (random) =>
    random.healthyTextWith(/"example.com\/note":"\w/, String.fromCharCode(random.below(32))),
  ),
  hostileText('json-nul-bytes', refused, (random) => {
    const nul = '\0'.repeat(1 + random.below(8));
    return random.healthyTextWith(random.pick([/^/, /$/, /:/]), nul);
  }),
  // JSON text must not begin with a byte order mark (RFC 8259, section 8.1). Go refuses it, too.
  hostileText('json-byte-order-mark', refused, (random) => `\uFEFF${random.healthyText()}`),
  // JSON text is UTF-8 (RFC 8259, section 8.1).
  hostileText('json-utf-16', refused, (random) => {
    const little = Buffer.from(`${random.chance(0.5) ? '\uFEFF' : ''}${random.healthyText()}`, 'utf16le');
    return random.chance(0.5) ? little : little.swap16();
  }),
  // Each invalid byte becomes U+FFFD, as in Go. The API server validates the result.
  hostileText('json-invalid-utf-8', '200 patched', (random) => {
    const bad = random.pick([[0xff], [0xc0, 0xaf], [0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]);
    const text = random.healthyText();
    const at = text.indexOf('"example.com/note":"') + '"example.com/note":"'.length;
    return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bad), Buffer.from(text.slice(at))]);
  }),
  // An escape of a lone surrogate is valid JSON.
  hostileText('json-lone-surrogates', '200 patched', (random) => {
    const half = `\\u${(0xd800 + random.below(0x800)).toString(16)}`;
    return random.healthyTextWith(random.pick([/"example.com\/note":"/, /"app":"/, /"value":"/]), half);
  }),

  hostileText('json-random-bytes', refused, (random) => random.bytes(1 + random.below(2000))),
  // The outcome depends on the bytes that changed.
  hostileText('json-flipped-bytes', [refused, '200 patched', '200 allowed'], (random) => {
    const content = Buffer.from(random.healthyText());
    for (let flips = 1 + random.below(8); flips > 0; flips--) content[random.below(content.length)] = random.below(256);
    return content;
  }),
  hostileText('json-scalars-and-lists', refused, (random) => {
    const text = random.healthyText();
    return random.pick([
      JSON.stringify(text),
      `[${text}]`,
      `${random.next() * 1e9}`,
      `"${random.word(20)}"`,
      `[${random.next()},null,true]`,
    ]);
  }),
  hostileText('not-json-at-all', refused, (random) => {
    const name = random.word(12);
    return random.pick([
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`,
      `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;${name}</r>`,
      `kind=AdmissionReview&uid=${name}`,
      `<html><body>${name}</body></html>`,
      `\u001f\u008b\u0008${name}`,
    ]);
  }),
  // The boundaries of chunks do not matter.
  hostile('json-in-random-chunks', '200 patched', (random, target) => ({
    bytes: chunked(random, target, random.healthyText()),
  })),
];
