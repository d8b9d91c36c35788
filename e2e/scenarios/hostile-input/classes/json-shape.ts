import { chunked, hostile, hostilePod, hostileText, type Materials } from '../materials.ts';

const methods = ['toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
/** Names of members that every JavaScript object inherits, such as its prototype. */
const inherited = ['__proto__', 'constructor', 'prototype', ...methods];

/** Returns the JSON of nested lists, nested objects, or both. */
function nested(random: Materials, levels: number): string {
  const shape = random.below(3);
  const asObject = Array.from({ length: levels }, () => shape === 0 || (shape === 2 && random.chance(0.5)));
  const open = asObject.map((object) => (object ? `{"${random.word(2)}":` : '['));
  const close = asObject.toReversed().map((object) => (object ? '}' : ']'));
  return `${open.join('')}${random.below(1000)}${close.join('')}`;
}

/** Returns a valid review with a text as the value of a member of the pod's spec. */
function withSpecMember(random: Materials, text: string): string {
  return random.healthyText().replace('"serviceAccountName":"default"', () => `"${random.word()}":${text}`);
}

/** Classes of JSON whose shape may harm a parser or a recursive function. */
export const jsonShape = [
  // The depth is bounded, because functions recurse. The refusal is an AdmissionReview.
  hostileText('deep-pod', '200 refused', (random) => withSpecMember(random, nested(random, 210 + random.below(3000)))),
  hostileText('deep-body', '200 refused', (random) => `[${nested(random, 210 + random.below(4000))}]`),
  // Without a declared length, the server inspects the body as it arrives, and refuses it early.
  hostile('deep-in-chunks', '400', (random, target) => ({
    bytes: chunked(random, target, withSpecMember(random, nested(random, 210 + random.below(3000)))),
  })),
  // The server refuses unclosed brackets without waiting for the rest.
  hostile('deep-without-end', '400', (random, target) => ({
    bytes: chunked(random, target, nested(random, 510 + random.below(3000)).slice(0, -300)),
  })),
  hostileText('deep-in-ignored-members', '200 patched', (random) => {
    const options = nested(random, 210 + random.below(1000));
    return random.healthyText().replace('"oldObject":null', () => `"options":${options}`);
  }),
  // No valid pod has so many values. Parsed values would take many times the memory of the text.
  hostileText('hundreds-of-thousands-of-values', '400', (random) => {
    const one = random.pick(['{},', '[],', '0,', '"",', `${random.below(10)},`]);
    return `{"${random.word(12)}":[${one.repeat(500_001)}0]}`;
  }),
  // The last duplicate counts, as in Go, so these duplicates do not matter.
  hostileText('duplicate-keys', '200 patched', (random) => {
    const [place, earlier] = random.pick([
      [/^\{/, '"kind":"Other",'],
      [/"request":\{/, '"operation":"DELETE",'],
      [/"metadata":\{/, '"labels":{"sidecar.istio.io/inject":"false"},'],
      [/"spec":\{/, '"containers":null,'],
    ] as const);
    return random.healthyTextWith(place, earlier);
  }),
  hostileText('duplicate-request', '200 refused', (random) =>
    random.healthyText().replace(/\}$/, () => `,"request":${JSON.stringify(random.otherThan('object'))}}`),
  ),
  // The operator treats such a member as any other member. No object inherits from it.
  hostileText('prototype-members-beside', '200 patched', (random) => {
    const poison = `"${random.pick(inherited)}":${JSON.stringify({ spec: { hostNetwork: true }, injected: random.word() })},`;
    const place = random.pick([/^\{/, /"request":\{/, /"metadata":\{/, /"spec":\{/, /"containers":\[\{/]);
    return random.healthyTextWith(place, poison);
  }),
  // Such names of labels and annotations are ordinary text.
  hostileText('prototype-members-as-strings', '200 patched', (random) => {
    const poison = `"${random.pick(inherited)}":"${random.word()}",`;
    const place = random.pick([/"labels":\{/, /"annotations":\{/]);
    return random.healthyTextWith(place, poison);
  }),
  // The operator does not read missing members from a member that claims to be the prototype.
  hostileText('prototype-members-instead', '200 refused', (random) => {
    const name = random.pick(inherited);
    const text = random.healthyText();
    return random.pick([
      `{"${name}":${text}}`,
      `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","${name}":${text}}`,
    ]);
  }),
  hostilePod('long-keys-and-strings', '200 patched', (random, object) => {
    object.metadata.annotations[random.word(20).repeat(50)] = random.word(50).repeat(100 + random.below(200));
    return object;
  }),
];
