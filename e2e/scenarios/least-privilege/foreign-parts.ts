import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { objectNames } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** The operator writes a contested object once a second at most. Milliseconds. */
const pause = 1100;
const mark = 'foreign';

/**
 * Somebody adds something of their own to each kind of object that the operator writes. A server-side apply would leave it there: the object has to be
 * replaced as a whole.
 */
export async function addForeignParts(
  context: ScenarioContext,
  injectorConfig: string,
  namespace: string,
): Promise<void> {
  const names = objectNames(injectorConfig);
  const webhook = {
    name: `${mark}.example.com`,
    clientConfig: { url: 'https://foreign.example.com/' },
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const addWebhook = [{ op: 'add', path: '/webhooks/-', value: webhook }];
  const admission = 'admissionregistration.k8s.io/v1';
  const parts: { object: KubernetesObject; patch: object }[] = [
    { object: object('v1', 'ConfigMap', names.configMap, namespace), patch: { data: { [mark]: 'x' } } },
    { object: object('v1', 'Secret', names.servingSecret, namespace), patch: { data: { [mark]: 'eA==' } } },
    { object: object(admission, 'MutatingWebhookConfiguration', names.webhookConfiguration), patch: addWebhook },
    {
      object: object(admission, 'ValidatingWebhookConfiguration', 'sidecar-injector-default-validator'),
      patch: addWebhook,
    },
  ];
  for (const { object: target, patch } of parts) await add(context, target, patch);
  for (const { object: target } of parts) await waitUntilRemoved(context, target);
  await sleep(pause);
}

/** The same for the Service, which has ports only where it leads to pods. */
export async function addForeignPort(
  context: ScenarioContext,
  injectorConfig: string,
  namespace: string,
): Promise<void> {
  const service = object('v1', 'Service', objectNames(injectorConfig).service, namespace);
  const port = [{ op: 'add', path: '/spec/ports/-', value: { name: mark, port: 1234, protocol: 'TCP' } }];
  await waitFor('the Service to lead to pods', () => add(context, service, port).then(() => true));
  await waitUntilRemoved(context, service);
}

async function add({ client }: ScenarioContext, target: KubernetesObject, patch: object): Promise<void> {
  await client.patch(target, Array.isArray(patch) ? 'json' : 'merge', patch, { fieldManager: 'somebody' });
}

async function waitUntilRemoved({ client }: ScenarioContext, target: KubernetesObject): Promise<void> {
  const { apiVersion, kind, metadata } = target;
  const { name = '', namespace } = metadata;
  await waitFor(`${kind} ${name} to be without the foreign part`, async () => {
    const live = await client.get(resourceKind(apiVersion, kind), name, { namespace });
    return !JSON.stringify({ ...live, metadata: {} }).includes(mark);
  });
}

function object(apiVersion: string, kind: string, name: string, namespace?: string): KubernetesObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}
