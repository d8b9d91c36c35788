import { validatePath } from '../../../api/names.ts';
import { framed, hostile, hostileRequest, hostileReview, review, type HostileClass, type Materials, type Members } from './materials.ts';

const refused = '200 refused';

/** Defines a class of reviews in which one member of `request` is invalid or missing. */
function wrongMember(member: string, wrong: (random: Materials) => readonly unknown[]): HostileClass {
  const name = `wrong-${member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return hostileRequest(name, refused, (random) => ({ [member]: random.pick(wrong(random)) }));
}

const notText = (random: Materials): unknown[] => ['', null, undefined, random.otherThan('string')];

/** Classes of AdmissionReviews with missing, unusual, or wrongly typed members. */
export const reviewMembers = [
  hostileReview('wrong-kind', refused, (random) => {
    const kinds = [...notText(random), 'Pod', 'AdmissionReviewList', 'admissionreview', random.word()];
    return review(random.creation(), { kind: random.pick(kinds) });
  }),
  hostileReview('wrong-version', refused, (random) => {
    const groups = ['admission.k8s.io/v2', 'admission.k8s.io/v1alpha1', 'admission.k8s.io', 'ADMISSION.K8S.IO/V1'];
    return review(random.creation(), { apiVersion: random.pick([...notText(random), ...groups, 'v1', random.word()]) });
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
  wrongMember('resource', (random) => {
    const groups = [{ group: random.otherThan('string') }, { group: '', resource: random.otherThan('string') }];
    return [random.otherThan('object'), ...groups];
  }),
  wrongMember('object', (random) => [null, undefined, random.otherThan('object'), JSON.stringify(random.pod()), [random.pod()]]),
  // Another resource means that the webhook selects too much, so the operator adds a warning.
  hostileRequest('other-resources', '200 allowed', (random) => {
    const ofGroups = [{ group: 'apps', resource: 'deployments' }, { group: random.word(), resource: 'pods' }];
    const ofCore = ['secrets', random.word(), 'PODS'].map((resource) => ({ group: '', resource }));
    return { resource: { version: 'v1', ...random.pick([...ofGroups, ...ofCore]) } };
  }),
  // The operator injects pods on creation, never through a subresource.
  hostileRequest('sub-resources', '200 allowed', (random) =>
    ({ subResource: random.pick(['status', 'ephemeralcontainers', 'exec', 'binding', 'eviction', '../..', random.word()]) })),
  hostileRequest('other-operations', '200 allowed', (random) => {
    const oldObject = random.pod();
    const object = random.pick<unknown>([oldObject, null, random.otherThan()]);
    return { operation: random.pick(['UPDATE', 'DELETE', 'CONNECT']), object, oldObject };
  }),
  // The operator ignores a member `response` in a request.
  hostileReview('answers-in-the-question', '200 patched', (random) => {
    const texts = ['%%%not-base64%%%', random.bytes(40).toString('base64').slice(1), random.word()];
    const patch = random.pick<unknown>([...texts, { op: 'remove', path: '/spec' }, [[{ op: 'replace', path: '', value: null }]]]);
    const response = { uid: random.word(), allowed: random.chance(0.5), patchType: random.pick(['JSONPatch', 'Full', 7, null]), patch };
    return review(random.creation(), { response });
  }),
  hostileReview('unknown-members', '200 patched', (random) => {
    const known = ['userInfo', 'options', 'kind', 'requestKind', 'requestResource', 'oldObject'];
    const ignored = Object.fromEntries([...known, random.word()].map((member) => [member, random.otherThan()]));
    return review({ ...random.creation(), ...ignored }, { metadata: random.otherThan(), [random.word(9)]: random.otherThan() });
  }),
];

/** Defines a class of objects for the webhook that validates InjectorConfigs. */
function submitted(className: string, expect: string, make: (random: Materials) => unknown): HostileClass {
  const type = { group: 'sidecar-injector.io', version: 'v1alpha1' };
  const [kind, resource] = [{ ...type, kind: 'InjectorConfig' }, { ...type, resource: 'injectorconfigs' }];
  return hostile(className, expect, (random, target) => {
    const request = { ...random.creation(make(random)), kind, resource, name: random.word(), namespace: '' };
    return framed(target, JSON.stringify(review(request)), { path: `${validatePath}?timeout=10s` });
  });
}

function config(random: Materials, injection: unknown, spec: Members = {}): Members {
  const metadata = { name: random.word() };
  return { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata, spec: { injection, ...spec } };
}

/** Classes of hostile InjectorConfigs, most of which the API server's schema would refuse. */
export const objectsOfOurs = [
  // The refusal names every invalid field.
  submitted('our-objects-of-wrong-types', refused, (random) => {
    const sidecar = { templates: { sidecar: '' } };
    const wrong = [random.otherThan('object'), { templates: random.otherThan('object') }, { template: '', delimiters: random.otherThan('list') }];
    const others = [{ templates: { [random.word()]: random.otherThan('string') } }, { ...sidecar, policy: random.word() }];
    const webhook = config(random, { ...sidecar, values: random.word() }, { webhook: random.otherThan('object') });
    return random.pick([null, random.otherThan('object'), ...[...wrong, ...others].map((each) => config(random, each)), webhook]);
  }),
  // A template that does not compile gets a warning and is not published until a user fixes it.
  submitted('our-objects-with-broken-templates', '200 allowed', (random) => {
    const open = ['{{ if }}', '{{ range .x }}', '{{', '{{ "unclosed }}', '{{/* open', `{{ ${'('.repeat(300)} }}`];
    const unknown = ['{{ unknown 1 }}', `{{ template "${random.word()}" . }}`, '{{ $x }}'];
    const broken = random.pick([...open, ...unknown, '{{ end }}', '{{ .a.b.. }}', '{{ 1e999 }}']);
    return config(random, { templates: { sidecar: `spec: # ${random.word()}\n  ${broken}\n` } });
  }),
  // The cost of compiling a template is bounded, even for deeply nested templates.
  submitted('our-objects-with-nested-templates', '200 allowed', (random) => {
    const levels = 50 + random.below(400);
    return config(random, { templates: { sidecar: `{{ if .${random.word()} }}`.repeat(levels) + '{{ end }}'.repeat(levels) } });
  }),
];
