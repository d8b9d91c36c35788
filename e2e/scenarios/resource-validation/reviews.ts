import type { Installation } from '../../harness/installation.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import { podReview, postReview, type ReviewAnswer } from '../../harness/post-review.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { reviewTarget } from '../../harness/webhook-configurations.ts';

const review = (version: string, changes: object = {}) => podReview('e2e-1', `admission.k8s.io/${version}`, changes);
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

/** What an AdmissionReview gets that no API server would send: an HTTP error, or a refusal in the review's own terms; never a crash. */
const malformed: { says: string; body: string; contentType?: string; expect: (answer: ReviewAnswer) => boolean }[] = [
  { says: 'an empty body', body: '', expect: isHttpError(400) },
  { says: 'text', body: 'hello', expect: isRefusal },
  { says: 'half a review', body: review('v1').slice(0, 80), expect: isRefusal },
  { says: 'a list', body: '[]', expect: isRefusal },
  { says: 'another content type', body: review('v1'), contentType: 'text/plain', expect: isHttpError(415) },
  { says: 'another kind', body: JSON.stringify({ apiVersion: 'v1', kind: 'Pod' }), expect: isRefusal },
  { says: 'an unknown version', body: review('v2'), expect: isRefusal },
  { says: 'no request', body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', expect: isRefusal },
  { says: 'a request without uid', body: review('v1', { uid: undefined }), expect: isRefusal },
  { says: 'an object that is no pod', body: review('v1', { object: { spec: 'x' } }), expect: isRefusal },
  { says: 'no object', body: review('v1', { object: null }), expect: isRefusal },
  { says: '200000 levels of nesting', body: deep, expect: isHttpError(400) },
  {
    says: 'a prototype as a key',
    body: review('v1', { object: JSON.parse('{"__proto__":{"spec":{}}}') as object }),
    expect: isAnswered,
  },
];

/** Posts reviews to the webhook's own port; returns how many malformed ones were answered. */
export async function checkReviews(context: ScenarioContext, installation: Installation, operator: OperatorProcess) {
  const target = await reviewTarget(context.client, 'bystander', installation.namespace, operator.webhookPort);
  const post = (body: string, contentType?: string, path = target.path) =>
    postReview({ ...target, path }, body, { contentType });

  for (const version of ['v1', 'v1beta1']) {
    const { status, review: answer } = await post(review(version));
    await context.checkNow(`a admission.k8s.io/${version} review is answered as such, with a patch`, () => {
      const response = answer?.response;
      return (
        status === 200 &&
        answer?.apiVersion === `admission.k8s.io/${version}` &&
        response?.uid === 'e2e-1' &&
        response.allowed &&
        response.patchType === 'JSONPatch' &&
        response.patch !== undefined
      );
    });
  }
  const before = (await post(review('v1'))).text;
  const odd: string[] = [];
  for (const { says, body, contentType, expect } of malformed) {
    const answer = await post(body, contentType);
    if (!expect(answer)) odd.push(`${says}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  await context.checkNow(`${malformed.length} malformed reviews get one clear error each`, () => {
    if (odd.length > 0) throw new Error(`\n${odd.join('\n')}`);
    return true;
  });
  const unknown = await post(review('v1'), undefined, '/revisions/nobody/00000000/inject');
  await context.checkNow(
    'an unknown configuration: 503 with Retry-After and Connection: close, so that the API server asks another replica',
    () => {
      return unknown.status === 503 && unknown.headers['retry-after'] === '1' && unknown.headers.connection === 'close';
    },
  );
  await context.check('the operator answers as it did before them', async () => {
    return (await post(review('v1'))).text === before && operator.process.running;
  });
  return malformed.length;
}

function isHttpError(status: number): (answer: ReviewAnswer) => boolean {
  return (answer) => answer.status === status && answer.text !== '';
}

/** In the review's own terms, as Istio does; the uid is known when the review could be read that far. */
function isRefusal(answer: ReviewAnswer): boolean {
  const response = answer.review?.response;
  const hasUid = response?.uid === 'e2e-1' || response?.uid === '';
  return answer.status === 200 && hasUid && !response.allowed && (response.status?.message ?? '') !== '';
}

/** Harmless as it stands, if it changes nothing for the next one. */
function isAnswered(answer: ReviewAnswer): boolean {
  return answer.status === 200 && answer.review?.response?.uid === 'e2e-1';
}
