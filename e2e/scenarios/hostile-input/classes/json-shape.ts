import type { Random } from '../../../../scripts/template-recorder/random.ts';
import {
  chunked,
  creation,
  healthyText,
  hostile,
  hostilePod,
  hostileText,
  otherThan,
  pod,
  word,
  type HostileClass,
} from '../materials.ts';

/** The names by which JavaScript objects reach their prototypes, and others that every object has. */
const inherited = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
];

/** Text that nests: lists, objects, or both. */
function nested(random: Random, levels: number): string {
  const shape = random.below(3);
  const asObject = Array.from({ length: levels }, () => shape === 0 || (shape === 2 && random.chance(0.5)));
  const open = asObject.map((object) => (object ? `{"${word(random, 2)}":` : '['));
  const close = asObject.toReversed().map((object) => (object ? '}' : ']'));
  return `${open.join('')}${random.below(1000)}${close.join('')}`;
}

/** A healthy review with text in place of the value of a member of its pod's spec. */
function withSpecMember(random: Random, text: string): string {
  return healthyText(random).replace('"serviceAccountName":"default"', () => `"${word(random)}":${text}`);
}

/** JSON whose shape is meant to hurt whoever parses or walks it. */
export const jsonShape: readonly HostileClass[] = [
  // Objects are walked by recursion, so they may not nest without bound; the review is refused in its own terms.
  hostileText('deep-pod', '200 refused', (random) => withSpecMember(random, nested(random, 210 + random.below(3000)))),
  hostileText('deep-body', '200 refused', (random) => `[${nested(random, 210 + random.below(4000))}]`),
  // A body that does not say its size is looked at as it comes, and given up at once.
  hostile('deep-in-chunks', '400', (random, target) => ({
    bytes: chunked(random, target, withSpecMember(random, nested(random, 210 + random.below(3000)))),
  })),
  // Brackets that only open are given up without waiting for the rest.
  hostile('deep-without-end', '400', (random, target) => ({
    bytes: chunked(random, target, nested(random, 510 + random.below(3000)).slice(0, -300)),
  })),
  hostileText('deep-where-nobody-looks', '200 patched', (random) => {
    const text = healthyText(random);
    return text.replace('"oldObject":null', () => `"options":${nested(random, 210 + random.below(1000))}`);
  }),
  // A pod that the API server takes has fewer, and parsing them would take many times their size in memory.
  hostileText('hundreds-of-thousands-of-values', '400', (random) => {
    const one = random.pick(['{},', '[],', '0,', '"",', `${random.below(10)},`]);
    return `{"${word(random, 12)}":[${one.repeat(500_001)}0]}`;
  }),
  // The last one counts, as in Go; these are harmless ones.
  hostileText('duplicate-keys', '200 patched', (random) => {
    const [place, earlier] = random.pick([
      [/^\{/, '"kind":"Other",'],
      [/"request":\{/, '"operation":"DELETE",'],
      [/"metadata":\{/, '"labels":{"sidecar.istio.io/inject":"false"},'],
      [/"spec":\{/, '"containers":null,'],
    ] as const);
    return healthyText(random).replace(place, (match) => match + earlier);
  }),
  hostileText('duplicate-request', '200 refused', (random) =>
    healthyText(random).replace(/\}$/, () => `,"request":${JSON.stringify(otherThan(random, 'object'))}}`),
  ),
  // A member of that name is a member like any other, and nothing inherits from it.
  hostileText('prototype-members-beside', '200 patched', (random) => {
    const poison = `"${random.pick(inherited)}":${JSON.stringify({ spec: { hostNetwork: true }, injected: word(random) })},`;
    const place = random.pick([/^\{/, /"request":\{/, /"metadata":\{/, /"spec":\{/, /"containers":\[\{/]);
    return healthyText(random).replace(place, (match) => match + poison);
  }),
  // Labels and annotations of such names are text like any other.
  hostileText('prototype-members-as-strings', '200 patched', (random) => {
    const poison = `"${random.pick(inherited)}":"${word(random)}",`;
    const place = random.pick([/"labels":\{/, /"annotations":\{/]);
    return healthyText(random).replace(place, (match) => match + poison);
  }),
  // What a review lacks is not found in what it claims to inherit.
  hostileText('prototype-members-instead', '200 refused', (random) => {
    const name = random.pick(inherited);
    const text = JSON.stringify({
      request: creation(random),
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
    });
    return random.pick([
      `{"${name}":${text}}`,
      `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","${name}":${text}}`,
    ]);
  }),
  hostilePod('long-keys-and-strings', '200 patched', (random) => {
    const object = pod(random);
    object.metadata.annotations[word(random, 20).repeat(50)] = word(random, 50).repeat(100 + random.below(200));
    return object;
  }),
];
