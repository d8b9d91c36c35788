import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { askByDryRun } from './check.ts';
import { subjectOf, type Subject } from '../check/subject.ts';

const injectedBy = 'sidecar-injector.io/config';
const spec = { containers: [{ name: 'app', image: 'app' }] };

function pod(metadata: KubernetesObject['metadata']): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', ...metadata }, spec };
}

function subject(object: KubernetesObject, stored = false): Subject {
  const found = subjectOf(object, 'shop');
  assert.ok(found);
  return stored ? { ...found, stored: object } : found;
}

type RequestOptions = NonNullable<Parameters<ApiClient['request']>[2]>;

/** Returns a client that gives the same answer to each request, or fails. */
function answering(answer: KubernetesObject | Error) {
  const asked: { method: string; path: string; query: RequestOptions['query']; body: KubernetesObject }[] = [];
  const request = (method: string, path: string, { query, body = '' }: RequestOptions = {}): Promise<unknown> => {
    asked.push({ method, path, query, body: JSON.parse(body) as KubernetesObject });
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { asked, request };
}

const plain = pod({ name: 'web' });

describe('askByDryRun', () => {
  it('sends a dry run to the namespace of the pod', async () => {
    const server = answering(plain);
    await askByDryRun(server, subject(plain));
    const asked = server.asked.map(({ method, path, query }) => [method, path, query]);
    assert.deepEqual(asked, [['POST', '/api/v1/namespaces/shop/pods', { dryRun: 'All' }]]);
  });

  const serverFields = { uid: '1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 };
  const sent: [title: string, object: KubernetesObject, stored: boolean, metadata: unknown][] = [
    [
      'a pod from a file with its name and labels',
      pod({ name: 'web', labels: { a: 'b' } }),
      false,
      { name: 'web', namespace: 'shop', labels: { a: 'b' }, annotations: {} },
    ],
    [
      'a pod without fields that the API server or an earlier injection has set',
      pod({ name: 'web', ...serverFields, annotations: { [injectedBy]: '1-24.00000000', team: 'a' } }),
      false,
      { name: 'web', namespace: 'shop', annotations: { team: 'a' } },
    ],
    [
      'an existing pod with a generated name',
      pod({ name: 'web' }),
      true,
      { generateName: 'web-', namespace: 'shop', annotations: {} },
    ],
    [
      'the pod of a controller with the generateName that the controller uses',
      pod({ name: 'web-abc-1', generateName: 'web-abc-' }),
      true,
      { generateName: 'web-abc-', namespace: 'shop', annotations: {} },
    ],
  ];
  for (const [title, object, stored, metadata] of sent) {
    it(`sends ${title}`, async () => {
      const server = answering(plain);
      await askByDryRun(server, subject(object, stored));
      assert.deepEqual(server.asked[0]?.body, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    });
  }

  it('sends a pod without metadata', async () => {
    const server = answering(plain);
    await askByDryRun(server, { ...subject(plain), pod: { spec } });
    assert.deepEqual(server.asked[0]?.body.metadata, { annotations: {} });
  });

  it('reports Injected if the stored pod has the annotation', async () => {
    const stored = pod({ name: 'web', annotations: { [injectedBy]: '1-24.00000000,logs.11111111' } });
    assert.deepEqual(await askByDryRun(answering(stored), subject(plain)), {
      result: 'Injected',
      injectedBy: ['1-24.00000000', 'logs.11111111'],
      message: 'the pod would be stored with the sidecar of 1-24.00000000, logs.11111111',
    });
  });

  it('reports NotInjected if the stored pod has no annotation', async () => {
    const { result, message } = await askByDryRun(answering(plain), subject(plain));
    assert.deepEqual([result, message], ['NotInjected', 'the pod would be stored without our sidecar']);
  });

  const refused = (code: number, message: string): ApiError => new ApiError({ code, reason: 'x', message });
  const refusals: [code: number, message: string][] = [
    [400, 'admission webhook "x" denied the request: AnnotationNotAllowed'],
    [403, 'pods "web" is forbidden: exceeded quota'],
    [500, 'failed calling webhook "x": context deadline exceeded'],
  ];
  for (const [code, message] of refusals) {
    it(`reports Refused for ${code}: ${message}`, async () => {
      const answer = await askByDryRun(answering(refused(code, message)), subject(plain));
      assert.deepEqual(answer, { result: 'Refused', injectedBy: [], message });
    });
  }

  const unrelated: [title: string, error: Error][] = [
    ['when the connection is lost', refused(0, 'ECONNREFUSED')],
    ['when the user may not create pods', refused(403, 'User "ann" cannot create resource "pods"')],
    ['on a programming error', new TypeError('x')],
  ];
  for (const [title, error] of unrelated) {
    it(`rejects ${title}`, async () => {
      await assert.rejects(askByDryRun(answering(error), subject(plain)), error);
    });
  }

  it('has exit status 2 when the namespace does not exist', async () => {
    const answer = answering(refused(404, 'namespaces "shop" not found'));
    const error = { name: 'UsageError', exitCode: 2, message: '--dry-run: namespaces "shop" not found' };
    await assert.rejects(askByDryRun(answer, subject(plain)), error);
  });
});
