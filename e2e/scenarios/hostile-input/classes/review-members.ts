import { hostileRequest, hostileReview, review, type Materials } from '../materials.ts';

const refused = '200 refused';

/** Defines a class of reviews in which one member of `request` is invalid or missing. */
function wrongMember(member: string, wrong: (random: Materials) => readonly unknown[]) {
  const name = `wrong-${member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return hostileRequest(name, refused, (random) => ({ ...random.creation(), [member]: random.pick(wrong(random)) }));
}

function notText(random: Materials): unknown[] {
  return ['', null, undefined, random.otherThan('string')];
}

/** Classes of AdmissionReviews with missing, unusual, or wrongly typed members. */
export const reviewMembers = [
  hostileReview('wrong-kind', refused, (random) => {
    const kinds = [...notText(random), 'Pod', 'AdmissionReviewList', 'admissionreview', random.word()];
    return review(random.creation(), { kind: random.pick(kinds) });
  }),
  hostileReview('wrong-version', refused, (random) => {
    const groups = ['admission.k8s.io/v2', 'admission.k8s.io/v1alpha1', 'admission.k8s.io', 'ADMISSION.K8S.IO/V1'];
    return review(random.creation(), {
      apiVersion: random.pick([...notText(random), ...groups, 'v1', random.word()]),
    });
  }),
  hostileReview('wrong-request', refused, (random) => {
    const request = random.creation();
    const wrong = [null, undefined, {}, random.otherThan('object'), [request], JSON.stringify(request)];
    return { ...review(random.pick<unknown>(wrong)), [random.word(8)]: request };
  }),
  hostileReview('not-an-admission-review', refused, (random) => {
    const kind = random.pick(['ConversionReview', 'TokenReview', 'SubjectAccessReview', 'Pod', 'List', 'Status']);
    return { kind, apiVersion: 'v1', request: random.creation(), items: [random.creation()] };
  }),
  wrongMember('uid', notText),
  wrongMember('operation', (random) => [...notText(random), 'create', 'PATCH', '*', random.word(), ['CREATE']]),
  wrongMember('name', (random) => [random.otherThan('string')]),
  wrongMember('namespace', (random) => [random.otherThan('string')]),
  wrongMember('subResource', (random) => [random.otherThan('string')]),
  wrongMember('dryRun', (random) => [random.otherThan('boolean'), 'true', 0]),
  wrongMember('resource', (random) => [
    random.otherThan('object'),
    { group: random.otherThan('string') },
    { group: '', resource: random.otherThan('string') },
  ]),
  wrongMember('object', (random) => {
    const object = random.pod();
    return [null, undefined, random.otherThan('object'), JSON.stringify(object), [object]];
  }),
  // Another resource means that the webhook selects too much, so the operator adds a warning.
  hostileRequest('other-resources', '200 allowed', (random) => {
    const resources = [
      { group: 'apps', resource: 'deployments' },
      { group: '', resource: 'secrets' },
      { group: random.word(), resource: 'pods' },
      { group: '', resource: random.word() },
      { group: '', resource: 'PODS' },
    ];
    return { ...random.creation(), resource: { version: 'v1', ...random.pick(resources) } };
  }),
  // The operator injects pods on creation, never through a subresource.
  hostileRequest('sub-resources', '200 allowed', (random) => ({
    ...random.creation(),
    subResource: random.pick(['status', 'ephemeralcontainers', 'exec', 'binding', 'eviction', '../..', random.word()]),
  })),
  hostileRequest('other-operations', '200 allowed', (random) => {
    const request = random.creation();
    const object = random.pick<unknown>([request.object, null, random.otherThan()]);
    const operation = random.pick(['UPDATE', 'DELETE', 'CONNECT']);
    return { ...request, operation, object, oldObject: request.object };
  }),
  // The operator ignores a member `response` in a request.
  hostileReview('answers-in-the-question', '200 patched', (random) => {
    const patch = random.pick<unknown>([
      { op: 'remove', path: '/spec' },
      '%%%not-base64%%%',
      random.bytes(40).toString('base64').slice(1),
      [[{ op: 'replace', path: '', value: null }]],
      random.word(),
    ]);
    const patchType = random.pick(['JSONPatch', 'Full', 7, null]);
    const response = { uid: random.word(), allowed: random.chance(0.5), patchType, patch };
    return review(random.creation(), { response });
  }),
  hostileReview('unknown-members', '200 patched', (random) => {
    const known = ['userInfo', 'options', 'kind', 'requestKind', 'requestResource', 'oldObject'];
    const ignored = Object.fromEntries([...known, random.word()].map((member) => [member, random.otherThan()]));
    const beside = { metadata: random.otherThan(), [random.word(9)]: random.otherThan() };
    return review({ ...random.creation(), ...ignored }, beside);
  }),
];
