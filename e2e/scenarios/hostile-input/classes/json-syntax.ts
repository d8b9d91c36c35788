import type { HostileClass } from '../hostile-class.ts';
import { body, bytes, chunked, healthyText, word } from '../materials.ts';

const because = 'the API server shows the refusal to whoever created the pod, and Istio answers so too';
const refused = '200 refused';

/** Inserts text at the first place that the pattern matches. */
function insert(text: string, at: RegExp, what: string): string {
  return text.replace(at, (match) => match + what);
}

/** What is not JSON. */
export const jsonSyntax: readonly HostileClass[] = [
  {
    name: 'json-cut-short',
    because,
    expect: refused,
    make(random, target) {
      const text = healthyText(random);
      return body(target, text.slice(0, 1 + random.below(text.length - 1)));
    },
  },
  {
    name: 'json-text-behind',
    because,
    expect: refused,
    make: (random, target) =>
      body(target, `${healthyText(random)}${random.pick(['}', ']', ',', '"', 'x'])}${word(random)}`),
  },
  {
    name: 'json-two-documents',
    because,
    expect: refused,
    make: (random, target) =>
      body(target, `${healthyText(random)}${random.pick(['', '\n', ' ', '\n---\n'])}${healthyText(random)}`),
  },
  {
    name: 'json-single-quotes',
    because,
    expect: refused,
    make: (random, target) => body(target, healthyText(random).replaceAll('"', "'")),
  },
  {
    name: 'json-bare-keys',
    because,
    expect: refused,
    make: (random, target) => body(target, healthyText(random).replaceAll(/"(\w+)":/g, '$1:')),
  },
  {
    name: 'json-comments',
    because,
    expect: refused,
    make: (random, target) =>
      body(
        target,
        insert(
          healthyText(random),
          /[,{]/,
          random.pick([`/* ${word(random)} */`, `// ${word(random)}\n`, `# ${word(random)}\n`]),
        ),
      ),
  },
  {
    name: 'json-needless-commas',
    because,
    expect: refused,
    make: (random, target) =>
      body(target, healthyText(random).replace(random.pick([/(?=[}\]])/, /(?<=[{[])/, /,/]), ',,')),
  },
  {
    name: 'json-bad-numbers',
    because,
    expect: refused,
    make(random, target) {
      const number = random.pick(['01', '+1', '.5', '1.', 'NaN', 'Infinity', '-', '0x1F', '1e', '1_000', '--2', '1e+']);
      return body(target, healthyText(random).replace(/(?<="containerPort":)\d+/, number));
    },
  },
  {
    name: 'json-bad-escapes',
    because,
    expect: refused,
    make(random, target) {
      const escape = random.pick(['\\x41', '\\u12', '\\uZZZZ', '\\', "\\'", '\\0', '\\U00000041']);
      return body(target, healthyText(random).replace(/(?<="example.com\/note":"\w+)"/, `${escape}"`));
    },
  },
  {
    name: 'json-control-bytes-in-strings',
    because: 'JSON wants them escaped (RFC 8259, section 7)',
    expect: refused,
    make(random, target) {
      const control = String.fromCharCode(random.below(32));
      return body(target, insert(healthyText(random), /"example.com\/note":"\w/, control));
    },
  },
  {
    name: 'json-nul-bytes',
    because,
    expect: refused,
    make(random, target) {
      const nul = '\0'.repeat(1 + random.below(8));
      const text = healthyText(random);
      return body(target, random.pick([nul + text, text + nul, insert(text, /:/, nul)]));
    },
  },
  {
    name: 'json-byte-order-mark',
    because: 'JSON text has none (RFC 8259, section 8.1), and Go refuses it too',
    expect: refused,
    make: (random, target) => body(target, `\uFEFF${healthyText(random)}`),
  },
  {
    name: 'json-utf-16',
    because: 'JSON text is UTF-8 (RFC 8259, section 8.1)',
    expect: refused,
    make(random, target) {
      const little = Buffer.from(`${random.chance(0.5) ? '\uFEFF' : ''}${healthyText(random)}`, 'utf16le');
      return body(target, random.chance(0.5) ? little : little.swap16());
    },
  },
  {
    name: 'json-invalid-utf-8',
    because: "each bad byte becomes U+FFFD, as in Go's encoding/json; what it stands in is the API server's to judge",
    expect: '200 patched',
    make(random, target) {
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
  },
  {
    name: 'json-lone-surrogates',
    because: 'half a character is a legal escape in JSON and nothing here depends on it',
    expect: '200 patched',
    make(random, target) {
      const half = `\\u${(0xd800 + random.below(0x800)).toString(16)}`;
      return body(
        target,
        insert(healthyText(random), random.pick([/"example.com\/note":"/, /"app":"/, /"value":"/]), half),
      );
    },
  },
  {
    name: 'json-random-bytes',
    because,
    expect: refused,
    // No random bytes are a review.
    make: (random, target) => body(target, bytes(random, 1 + random.below(2000))),
  },
  {
    name: 'json-flipped-bytes',
    because: 'what is still a review is answered as what it has become',
    expect: [refused, '200 patched', '200 allowed'],
    make(random, target) {
      const content = Buffer.from(healthyText(random));
      for (let flips = 1 + random.below(8); flips > 0; flips--)
        content[random.below(content.length)] = random.below(256);
      return body(target, content);
    },
  },
  {
    name: 'json-scalars-and-lists',
    because,
    expect: refused,
    make(random, target) {
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
    },
  },
  {
    name: 'not-json-at-all',
    because,
    expect: refused,
    make(random, target) {
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
    },
  },
  {
    name: 'json-in-random-chunks',
    because: 'how a body is cut into chunks says nothing of its meaning',
    expect: '200 patched',
    make: (random, target) => ({ bytes: chunked(random, target, healthyText(random)) }),
  },
];
