import { chunked, hostile, hostilePod, hostileText, portNumber, type Materials } from './materials.ts';

const refused = '200 refused';
const patched = '200 patched';

/** Classes of bodies that are not JSON, or are unusual JSON. */
export const jsonSyntax = [
  hostileText('json-cut-short', refused, (random) => random.healthyText().slice(0, -1 - random.below(500))),
  hostileText('json-text-behind', refused, (random) => random.healthyText() + random.pick(['}', ']', ',', '"', 'x']) + random.word()),
  hostileText('json-two-documents', refused, (random) => random.healthyText() + random.pick(['', '\n', ' ', '\n---\n']) + random.healthyText()),
  hostileText('json-single-quotes', refused, (random) => random.healthyText().replaceAll('"', "'")),
  hostileText('json-bare-keys', refused, (random) => random.healthyText().replaceAll(/"(\w+)":/g, '$1:')),
  hostileText('json-comments', refused, (random) =>
    random.healthyTextWith(/[,{]/, random.pick([`/* ${random.word()} */`, `// ${random.word()}\n`, `# ${random.word()}\n`]))),
  hostileText('json-needless-commas', refused, (random) => random.healthyText().replace(random.pick([/(?=[}\]])/, /(?<=[{[])/, /,/]), ',,')),
  hostileText('json-bad-numbers', refused, (random) => {
    const numbers = ['01', '+1', '.5', '1.', 'NaN', 'Infinity', '-', '0x1F', '1e', '1_000', '--2', '1e+'];
    return random.healthyText().replace(portNumber, random.pick(numbers));
  }),
  hostileText('json-bad-escapes', refused, (random) => {
    const escape = random.pick(['\\x41', '\\u12', '\\uZZZZ', '\\', "\\'", '\\0', '\\U00000041']);
    return random.healthyText().replace(/(?<="example.com\/note":"\w+)"/, `${escape}"`);
  }),
  // JSON requires an escape for control characters (RFC 8259, section 7).
  hostileText('json-control-bytes-in-strings', refused, (random) =>
    random.healthyTextWith(/"example.com\/note":"\w/, String.fromCharCode(random.below(32)))),
  hostileText('json-nul-bytes', refused, (random) => random.healthyTextWith(random.pick([/^/, /$/, /:/]), '\0'.repeat(1 + random.below(8)))),
  // JSON text is UTF-8 without a byte order mark (RFC 8259, section 8.1). Go refuses it, too.
  hostileText('json-byte-order-mark', refused, (random) => `\uFEFF${random.healthyText()}`),
  hostileText('json-utf-16', refused, (random) => {
    const little = Buffer.from(`${random.chance(0.5) ? '\uFEFF' : ''}${random.healthyText()}`, 'utf16le');
    return random.chance(0.5) ? little : little.swap16();
  }),
  // Each invalid byte becomes U+FFFD, as in Go. The API server validates the result.
  hostileText('json-invalid-utf-8', patched, (random) => {
    const bad = random.pick([[0xff], [0xc0, 0xaf], [0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]);
    const [start = '', end = ''] = random.healthyText().split(/(?<="example.com\/note":")/);
    return Buffer.concat([Buffer.from(start), Buffer.from(bad), Buffer.from(end)]);
  }),
  // An escape of a lone surrogate is valid JSON.
  hostileText('json-lone-surrogates', patched, (random) => {
    const half = `\\u${(0xd800 + random.below(0x800)).toString(16)}`;
    return random.healthyTextWith(random.pick([/"example.com\/note":"/, /"app":"/, /"value":"/]), half);
  }),
  hostileText('json-random-bytes', refused, (random) => random.bytes(1 + random.below(2000))),
  // The outcome depends on the bytes that changed.
  hostileText('json-flipped-bytes', '200 refused or 200 patched or 200 allowed', (random) => {
    const content = Buffer.from(random.healthyText());
    for (let flips = 1 + random.below(8); flips > 0; flips--) content[random.below(content.length)] = random.below(256);
    return content;
  }),
  hostileText('json-scalars-and-lists', refused, (random) => {
    const text = random.healthyText();
    const scalars = [JSON.stringify(text), `${random.next() * 1e9}`, `"${random.word(20)}"`];
    return random.pick([...scalars, `[${text}]`, `[${random.next()},null,true]`]);
  }),
  hostileText('not-json-at-all', refused, (random) => {
    const name = random.word(12);
    const xml = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;${name}</r>`;
    const others = [`kind=AdmissionReview&uid=${name}`, `<html><body>${name}</body></html>`, `\u001f\u008b\u0008${name}`];
    return random.pick([`apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`, xml, ...others]);
  }),
  // The boundaries of chunks do not matter.
  hostile('json-in-random-chunks', patched, (random, target) => chunked(random, target, random.healthyText())),
];

/** Names of members that every JavaScript object inherits, such as its prototype. */
const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];

/** Returns the JSON of nested lists, nested objects, or both, with a random number of levels. */
function nested(random: Materials, fewest: number, more: number): string {
  const shape = random.below(3);
  const levels = Array.from({ length: fewest + random.below(more) }, () => shape === 0 || (shape === 2 && random.chance(0.5)));
  const open = levels.map((isObject) => (isObject ? `{"${random.word(2)}":` : '['));
  const close = levels.toReversed().map((isObject) => (isObject ? '}' : ']'));
  return `${open.join('')}${random.below(1000)}${close.join('')}`;
}

/** Returns a valid review with a deeply nested member in the pod's spec. */
function deepPod(random: Materials): string {
  const member = `"${random.word()}":${nested(random, 210, 3000)}`;
  return random.healthyText().replace('"serviceAccountName":"default"', () => member);
}

/** Classes of JSON whose shape may harm a parser or a recursive function. */
export const jsonShape = [
  // The depth is bounded, because functions recurse. The refusal is an AdmissionReview.
  hostileText('deep-pod', refused, deepPod),
  hostileText('deep-body', refused, (random) => `[${nested(random, 210, 4000)}]`),
  // Without a declared length, the server inspects the body as it arrives, and refuses it early.
  hostile('deep-in-chunks', '400', (random, target) => chunked(random, target, deepPod(random))),
  hostile('deep-without-end', '400', (random, target) => chunked(random, target, nested(random, 510, 3000).slice(0, -300))),
  hostileText('deep-in-ignored-members', patched, (random) => {
    const options = nested(random, 210, 1000);
    return random.healthyText().replace('"oldObject":null', () => `"options":${options}`);
  }),
  // No valid pod has so many values. Parsed values would take many times the memory of the text.
  hostileText('hundreds-of-thousands-of-values', '400', (random) => {
    const one = random.pick(['{},', '[],', '0,', '"",', `${random.below(10)},`]);
    return `{"${random.word(12)}":[${one.repeat(500_001)}0]}`;
  }),
  // The last duplicate counts, as in Go, so these duplicates do not matter.
  hostileText('duplicate-keys', patched, (random) => {
    const ofRequest = [[/^\{/, '"kind":"Other",'], [/"request":\{/, '"operation":"DELETE",']] as const;
    const ofPod = [[/"metadata":\{/, '"labels":{"sidecar.istio.io/inject":"false"},'], [/"spec":\{/, '"containers":null,']] as const;
    const [place, earlier] = random.pick([...ofRequest, ...ofPod]);
    return random.healthyTextWith(place, earlier);
  }),
  hostileText('duplicate-request', refused, (random) =>
    random.healthyText().replace(/\}$/, () => `,"request":${JSON.stringify(random.otherThan('object'))}}`)),
  // The operator treats such a member as any other member. No object inherits from it.
  hostileText('prototype-members-beside', patched, (random) => {
    const poison = `"${random.pick(inherited)}":${JSON.stringify({ spec: { hostNetwork: true }, injected: random.word() })},`;
    return random.healthyTextWith(random.pick([/^\{/, /"request":\{/, /"metadata":\{/, /"spec":\{/, /"containers":\[\{/]), poison);
  }),
  // Such names of labels and annotations are ordinary text.
  hostileText('prototype-members-as-strings', patched, (random) =>
    random.healthyTextWith(random.pick([/"labels":\{/, /"annotations":\{/]), `"${random.pick(inherited)}":"${random.word()}",`)),
  // The operator does not read missing members from a member that claims to be the prototype.
  hostileText('prototype-members-instead', refused, (random) => {
    const start = random.pick(['', '"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",']);
    return `{${start}"${random.pick(inherited)}":${random.healthyText()}}`;
  }),
  hostilePod('long-keys-and-strings', patched, (random, object) => {
    object.metadata.annotations[random.word(20).repeat(50)] = random.word(50).repeat(100 + random.below(200));
    return object;
  }),
];
