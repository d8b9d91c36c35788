import { hostile, type HostileClass } from '../hostile-class.ts';
import { body, bytes, chunked, healthyText, word } from '../materials.ts';

const because = 'the API server shows the refusal to whoever created the pod, and Istio answers so too';
const refused = '200 refused';

/** Inserts text at the first place that the pattern matches. */
function insert(text: string, at: RegExp, what: string): string {
  return text.replace(at, (match) => match + what);
}

/** What is not JSON. */
export const jsonSyntax: readonly HostileClass[] = [
  hostile('json-cut-short', refused, because, (random, target) => {
    const text = healthyText(random);
    return body(target, text.slice(0, 1 + random.below(text.length - 1)));
  }),
  hostile('json-text-behind', refused, because, (random, target) =>
    body(target, `${healthyText(random)}${random.pick(['}', ']', ',', '"', 'x'])}${word(random)}`),
  ),
  hostile('json-two-documents', refused, because, (random, target) =>
    body(target, `${healthyText(random)}${random.pick(['', '\n', ' ', '\n---\n'])}${healthyText(random)}`),
  ),
  hostile('json-single-quotes', refused, because, (random, target) =>
    body(target, healthyText(random).replaceAll('"', "'")),
  ),
  hostile('json-bare-keys', refused, because, (random, target) =>
    body(target, healthyText(random).replaceAll(/"(\w+)":/g, '$1:')),
  ),
  hostile('json-comments', refused, because, (random, target) =>
    body(
      target,
      insert(
        healthyText(random),
        /[,{]/,
        random.pick([`/* ${word(random)} */`, `// ${word(random)}\n`, `# ${word(random)}\n`]),
      ),
    ),
  ),
  hostile('json-needless-commas', refused, because, (random, target) =>
    body(target, healthyText(random).replace(random.pick([/(?=[}\]])/, /(?<=[{[])/, /,/]), ',,')),
  ),
  hostile('json-bad-numbers', refused, because, (random, target) => {
    const number = random.pick(['01', '+1', '.5', '1.', 'NaN', 'Infinity', '-', '0x1F', '1e', '1_000', '--2', '1e+']);
    return body(target, healthyText(random).replace(/(?<="containerPort":)\d+/, number));
  }),
  hostile('json-bad-escapes', refused, because, (random, target) => {
    const escape = random.pick(['\\x41', '\\u12', '\\uZZZZ', '\\', "\\'", '\\0', '\\U00000041']);
    return body(target, healthyText(random).replace(/(?<="example.com\/note":"\w+)"/, `${escape}"`));
  }),
  hostile(
    'json-control-bytes-in-strings',
    refused,
    'JSON wants them escaped (RFC 8259, section 7)',
    (random, target) => {
      const control = String.fromCharCode(random.below(32));
      return body(target, insert(healthyText(random), /"example.com\/note":"\w/, control));
    },
  ),
  hostile('json-nul-bytes', refused, because, (random, target) => {
    const nul = '\0'.repeat(1 + random.below(8));
    const text = healthyText(random);
    return body(target, random.pick([nul + text, text + nul, insert(text, /:/, nul)]));
  }),
  hostile(
    'json-byte-order-mark',
    refused,
    'JSON text has none (RFC 8259, section 8.1), and Go refuses it too',
    (random, target) => body(target, `\uFEFF${healthyText(random)}`),
  ),
  hostile('json-utf-16', refused, 'JSON text is UTF-8 (RFC 8259, section 8.1)', (random, target) => {
    const little = Buffer.from(`${random.chance(0.5) ? '\uFEFF' : ''}${healthyText(random)}`, 'utf16le');
    return body(target, random.chance(0.5) ? little : little.swap16());
  }),
  hostile(
    'json-invalid-utf-8',
    '200 patched',
    "each bad byte becomes U+FFFD, as in Go's encoding/json; what it stands in is the API server's to judge",
    (random, target) => {
      const bad = random.pick([
        [0xff],
        [0xc0, 0xaf],
        [0x80],
        [0xed, 0xa0, 0x80],
        [0xf5, 0x80, 0x80, 0x80],
        [0xe2, 0x82],
      ]);
      const text = healthyText(random);
      const at = text.indexOf('"example.com/note":"') + '"example.com/note":"'.length;
      return body(
        target,
        Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bad), Buffer.from(text.slice(at))]),
      );
    },
  ),
  hostile(
    'json-lone-surrogates',
    '200 patched',
    'half a character is a legal escape in JSON and nothing here depends on it',
    (random, target) => {
      const half = `\\u${(0xd800 + random.below(0x800)).toString(16)}`;
      return body(
        target,
        insert(healthyText(random), random.pick([/"example.com\/note":"/, /"app":"/, /"value":"/]), half),
      );
    },
  ),
  // No random bytes are a review.
  hostile('json-random-bytes', refused, because, (random, target) =>
    body(target, bytes(random, 1 + random.below(2000))),
  ),
  hostile(
    'json-flipped-bytes',
    [refused, '200 patched', '200 allowed'],
    'what is still a review is answered as what it has become',
    (random, target) => {
      const content = Buffer.from(healthyText(random));
      for (let flips = 1 + random.below(8); flips > 0; flips--)
        content[random.below(content.length)] = random.below(256);
      return body(target, content);
    },
  ),
  hostile('json-scalars-and-lists', refused, because, (random, target) => {
    const text = healthyText(random);
    return body(
      target,
      random.pick([
        JSON.stringify(text),
        `[${text}]`,
        `${random.next() * 1e9}`,
        `"${word(random, 20)}"`,
        `[${random.next()},null,true]`,
      ]),
    );
  }),
  hostile('not-json-at-all', refused, because, (random, target) => {
    const name = word(random, 12);
    return body(
      target,
      random.pick([
        `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`,
        `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;${name}</r>`,
        `kind=AdmissionReview&uid=${name}`,
        `<html><body>${name}</body></html>`,
        `\u001f\u008b\u0008${name}`,
      ]),
    );
  }),
  hostile(
    'json-in-random-chunks',
    '200 patched',
    'how a body is cut into chunks says nothing of its meaning',
    (random, target) => ({ bytes: chunked(random, target, healthyText(random)) }),
  ),
];
