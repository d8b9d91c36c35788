import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { generateRsaKeyPair } from '../../../src/certs/key-pair.ts';
import { applyObject } from '../../harness/apply.ts';
import { companyAuthority } from '../../harness/company-authority.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';

/** The label of namespaces whose pods the other webhooks change. */
export const foreignLabel = 'e2e.sidecar-injector.io/foreign';

interface Review {
  readonly request: { readonly uid: string; readonly object: { readonly spec: Record<string, { env?: unknown }[]> } };
}

/**
 * Serves a webhook of another product, once before and once after ours. It adds a label, and after
 * ours also a variable to every container, the sidecar included.
 */
export async function startForeignWebhook(context: ScenarioContext): Promise<void> {
  const { publicKeyPem, privateKeyPem } = await generateRsaKeyPair(2048);
  const authority = await companyAuthority('foreign', false);
  const cert = authority.sign(publicKeyPem, 'foreign', ['127.0.0.1'], 3_600_000);
  const server = createServer({ cert, key: privateKeyPem }, (request, response) => {
    void json(request).then((review) => {
      response.end(JSON.stringify(answer(review as Review, request.url?.startsWith('/after') === true)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const [name, path] of [
    ['aa-foreign', 'before'],
    ['zz-foreign', 'after'],
  ] as const) {
    await applyObject(context.client, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name },
      webhooks: [
        {
          name: `${path}.foreign.example`,
          clientConfig: {
            url: `https://127.0.0.1:${port}/${path}`,
            caBundle: Buffer.from(authority.root).toString('base64'),
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          namespaceSelector: { matchLabels: { [foreignLabel]: 'true' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    context.atEnd(() =>
      context.client.delete({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name },
      }),
    );
  }
  await untilActive(context.client);
}

function answer({ request: { uid, object } }: Review, isAfter: boolean) {
  const team = { name: 'TEAM', value: 'x' };
  const patch: object[] = [
    { op: 'add', path: `/metadata/labels/${isAfter ? 'after' : 'before'}`, value: 'yes' },
    ...['containers', 'initContainers'].flatMap((list) =>
      (isAfter ? (object.spec[list] ?? []) : []).map(({ env }, index) =>
        env === undefined
          ? { op: 'add', path: `/spec/${list}/${index}/env`, value: [team] }
          : { op: 'add', path: `/spec/${list}/${index}/env/-`, value: team },
      ),
    ),
  ];
  const response = {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}
