import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { generateRsaKeyPair } from '../../src/certs/key-pair.ts';
import { applyObject } from './apply.ts';
import { companyAuthority } from './company-authority.ts';
import type { Pod } from './pod.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { untilActive } from './until-active.ts';
import { webhookNamed } from './webhook-configurations.ts';

/** A webhook of another product. */
export interface ForeignWebhook {
  /** The name of its configuration. The API server calls webhooks in the order of these names. */
  readonly name: string;
  /** The labels of the namespaces whose pods it changes. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** Returns the JSON patch for a new pod, or why it refuses the pod. */
  readonly patch: (pod: Pod) => object[] | string;
}

interface Review {
  readonly request: { readonly uid: string; readonly object: Pod };
}

/** Serves webhooks of other products until the scenario ends. */
export async function startForeignWebhooks(
  context: ScenarioContext,
  webhooks: readonly ForeignWebhook[],
): Promise<void> {
  const { publicKeyPem, privateKeyPem } = await generateRsaKeyPair(2048);
  const authority = await companyAuthority('foreign', false);
  const cert = authority.sign(publicKeyPem, 'foreign', ['127.0.0.1'], 3_600_000);
  const server = createServer({ cert, key: privateKeyPem }, (request, response) => {
    const webhook = webhooks.find(({ name }) => request.url?.startsWith(`/${name}`));
    void json(request).then((review) => {
      const { uid, object } = (review as Review).request;
      const result = webhook?.patch(object) ?? [];
      const patch = Buffer.from(JSON.stringify(result)).toString('base64');
      const answer =
        typeof result === 'string'
          ? { uid, allowed: false, status: { message: result } }
          : { uid, allowed: true, patchType: 'JSONPatch', patch };
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.atEnd(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const { name, namespaceLabels } of webhooks) {
    const configuration = webhookNamed(name);
    await applyObject(context.client, {
      ...configuration,
      webhooks: [
        {
          name: `${name}.foreign.example`,
          clientConfig: {
            url: `https://127.0.0.1:${port}/${name}`,
            caBundle: Buffer.from(authority.root).toString('base64'),
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          namespaceSelector: { matchLabels: namespaceLabels },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    context.atEnd(() => context.client.delete(configuration));
  }
  await untilActive(context.client);
}
