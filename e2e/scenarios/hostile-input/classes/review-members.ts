import type { Random } from '../../../../scripts/template-recorder/random.ts';
import {
  bytes,
  creation,
  hostileRequest,
  hostileReview,
  otherThan,
  review,
  word,
  type HostileClass,
  type Members,
} from '../materials.ts';

const refused = '200 refused';

function spoiled(random: Random, member: string, wrong: readonly unknown[]): Members {
  const request = creation(random);
  const value = random.pick(wrong);
  if (value === undefined) Reflect.deleteProperty(request, member);
  else request[member] = value;
  return review(request);
}

/** A class in which one member of the request has no value that it may have. */
function wrongMember(member: string, wrong: (random: Random) => readonly unknown[]): HostileClass {
  const name = `wrong-${member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return hostileReview(name, refused, (random) => spoiled(random, member, wrong(random)));
}

/** AdmissionReviews with members that are missing, of the wrong type, or not what an API server would send. */
export const reviewMembers: readonly HostileClass[] = [
  hostileReview('wrong-kind', refused, (random) =>
    review(creation(random), {
      kind: random.pick<unknown>([
        'Pod',
        'AdmissionReviewList',
        'admissionreview',
        '',
        null,
        undefined,
        word(random),
        otherThan(random, 'string'),
      ]),
    }),
  ),
  hostileReview('wrong-version', refused, (random) => {
    const versions = [
      'v1',
      'admission.k8s.io/v2',
      'admission.k8s.io/v1alpha1',
      'admission.k8s.io',
      'ADMISSION.K8S.IO/V1',
      '',
      null,
      undefined,
      word(random),
      otherThan(random, 'string'),
    ];
    return review(creation(random), { apiVersion: random.pick<unknown>(versions) });
  }),
  hostileReview('wrong-request', refused, (random) => ({
    ...review(
      random.pick<unknown>([
        null,
        undefined,
        {},
        otherThan(random, 'object'),
        [creation(random)],
        JSON.stringify(creation(random)),
      ]),
    ),
    [word(random, 8)]: creation(random),
  })),
  hostileReview('not-an-admission-review', refused, (random) => {
    const kind = random.pick(['ConversionReview', 'TokenReview', 'SubjectAccessReview', 'Pod', 'List', 'Status']);
    return { kind, apiVersion: 'v1', request: creation(random), items: [creation(random)] };
  }),
  wrongMember('uid', (random) => ['', null, undefined, otherThan(random, 'string')]),
  wrongMember('operation', (random) => [
    '',
    null,
    undefined,
    'create',
    'PATCH',
    '*',
    word(random),
    otherThan(random, 'string'),
    ['CREATE'],
  ]),
  wrongMember('name', (random) => [otherThan(random, 'string')]),
  wrongMember('namespace', (random) => [otherThan(random, 'string')]),
  wrongMember('subResource', (random) => [otherThan(random, 'string')]),
  wrongMember('dryRun', (random) => [otherThan(random, 'boolean'), 'true', 0]),
  wrongMember('resource', (random) => [
    otherThan(random, 'object'),
    { group: otherThan(random, 'string') },
    { group: '', resource: otherThan(random, 'string') },
  ]),
  wrongMember('object', (random) => [
    null,
    undefined,
    otherThan(random, 'object'),
    JSON.stringify(creation(random).object),
    [creation(random).object],
  ]),
  // Only pods are injected; a webhook that sends more is too wide, and that is a warning, no refusal.
  hostileRequest('other-resources', '200 allowed', (random) => {
    const resources = [
      { group: 'apps', resource: 'deployments' },
      { group: '', resource: 'secrets' },
      { group: word(random), resource: 'pods' },
      { group: '', resource: word(random) },
      { group: '', resource: 'PODS' },
    ];
    return { ...creation(random), resource: { version: 'v1', ...random.pick(resources) } };
  }),
  // A pod is injected when it is created, never by way of a subresource.
  hostileRequest('sub-resources', '200 allowed', (random) => ({
    ...creation(random),
    subResource: random.pick(['status', 'ephemeralcontainers', 'exec', 'binding', 'eviction', '../..', word(random)]),
  })),
  hostileRequest('other-operations', '200 allowed', (random) => {
    const request = creation(random);
    const object = random.pick<unknown>([request.object, null, otherThan(random)]);
    return {
      ...request,
      operation: random.pick(['UPDATE', 'DELETE', 'CONNECT']),
      object,
      oldObject: request.object,
    };
  }),
  // The member response is for us to write: what a client says there is not read, a patch least of all.
  hostileReview('answers-in-the-question', '200 patched', (random) => {
    const patch = random.pick<unknown>([
      { op: 'remove', path: '/spec' },
      '%%%not-base64%%%',
      bytes(random, 40).toString('base64').slice(1),
      [[{ op: 'replace', path: '', value: null }]],
      word(random),
    ]);
    const response = {
      uid: word(random),
      allowed: random.chance(0.5),
      patchType: random.pick(['JSONPatch', 'Full', 7, null]),
      patch,
    };
    return review(creation(random), { response });
  }),
  hostileReview('members-that-nobody-reads', '200 patched', (random) => {
    const ignored = {
      userInfo: otherThan(random),
      options: otherThan(random),
      kind: otherThan(random),
      requestKind: otherThan(random),
      requestResource: otherThan(random),
      oldObject: otherThan(random),
      [word(random)]: otherThan(random),
    };
    return review(
      { ...creation(random), ...ignored },
      { metadata: otherThan(random), [word(random, 9)]: otherThan(random) },
    );
  }),
];
