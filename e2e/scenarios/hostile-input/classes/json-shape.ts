import type { Random } from '../../../../scripts/template-recorder/random.ts';
import { hostile, type HostileClass } from '../hostile-class.ts';
import { body, chunked, creation, healthyText, json, otherThan, pod, review, word } from '../materials.ts';

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
  hostile(
    'deep-pod',
    '200 refused',
    'objects are walked by recursion, so they may not nest without bound; the review is refused in its own terms',
    (random, target) => body(target, withSpecMember(random, nested(random, 210 + random.below(3000)))),
  ),
  hostile('deep-body', '200 refused', 'it is no review, however deep', (random, target) =>
    body(target, `[${nested(random, 210 + random.below(4000))}]`),
  ),
  hostile(
    'deep-in-chunks',
    '400',
    'a body that does not say its size is looked at as it comes, and given up at once',
    (random, target) => ({
      bytes: chunked(random, target, withSpecMember(random, nested(random, 210 + random.below(3000)))),
    }),
  ),
  hostile(
    'deep-without-end',
    '400',
    'brackets that only open are given up without waiting for the rest',
    (random, target) => ({
      bytes: chunked(random, target, nested(random, 510 + random.below(3000)).slice(0, -300)),
    }),
  ),
  hostile('deep-where-nobody-looks', '200 patched', 'members that are not read do no harm', (random, target) => {
    const text = healthyText(random);
    return body(
      target,
      text.replace('"oldObject":null', () => `"options":${nested(random, 210 + random.below(1000))}`),
    );
  }),
  hostile(
    'hundreds-of-thousands-of-values',
    '400',
    'a pod that the API server takes has fewer, and parsing them would take many times their size in memory',
    (random, target) => {
      const one = random.pick(['{},', '[],', '0,', '"",', `${random.below(10)},`]);
      return body(target, `{"${word(random, 12)}":[${one.repeat(500_001)}0]}`);
    },
  ),
  hostile(
    'duplicate-keys',
    '200 patched',
    'the last one counts, as in Go; these are harmless ones',
    (random, target) => {
      const [place, earlier] = random.pick([
        [/^\{/, '"kind":"Other",'],
        [/"request":\{/, '"operation":"DELETE",'],
        [/"metadata":\{/, '"labels":{"sidecar.istio.io/inject":"false"},'],
        [/"spec":\{/, '"containers":null,'],
      ] as const);
      return body(
        target,
        healthyText(random).replace(place, (match) => match + earlier),
      );
    },
  ),
  hostile('duplicate-request', '200 refused', 'the last one counts, and that one is no request', (random, target) =>
    body(
      target,
      healthyText(random).replace(/\}$/, () => `,"request":${JSON.stringify(otherThan(random, 'object'))}}`),
    ),
  ),
  hostile(
    'prototype-members-beside',
    '200 patched',
    'a member of that name is a member like any other, and nothing inherits from it',
    (random, target) => {
      const poison = `"${random.pick(inherited)}":${JSON.stringify({ spec: { hostNetwork: true }, injected: word(random) })},`;
      const place = random.pick([/^\{/, /"request":\{/, /"metadata":\{/, /"spec":\{/, /"containers":\[\{/]);
      return body(
        target,
        healthyText(random).replace(place, (match) => match + poison),
      );
    },
  ),
  hostile(
    'prototype-members-as-strings',
    '200 patched',
    'labels and annotations of such names are text like any other',
    (random, target) => {
      const poison = `"${random.pick(inherited)}":"${word(random)}",`;
      const place = random.pick([/"labels":\{/, /"annotations":\{/]);
      return body(
        target,
        healthyText(random).replace(place, (match) => match + poison),
      );
    },
  ),
  hostile(
    'prototype-members-instead',
    '200 refused',
    'what a review lacks is not found in what it claims to inherit',
    (random, target) => {
      const name = random.pick(inherited);
      const text = JSON.stringify({
        request: creation(random),
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
      });
      return body(
        target,
        random.pick([
          `{"${name}":${text}}`,
          `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","${name}":${text}}`,
        ]),
      );
    },
  ),
  hostile('long-keys-and-strings', '200 patched', 'length alone is no fault of a pod', (random, target) => {
    const object = pod(random);
    object.metadata.annotations[word(random, 20).repeat(50)] = word(random, 50).repeat(100 + random.below(200));
    return json(target, review(creation(random, object)));
  }),
];
