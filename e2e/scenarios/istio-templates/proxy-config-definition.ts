import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { applyAll } from '../../harness/apply.ts';

/** The parts of Istio's CRD that suffice to store a ProxyConfig. */
const definition: KubernetesObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'proxyconfigs.networking.istio.io' },
  spec: {
    group: 'networking.istio.io',
    names: { kind: 'ProxyConfig', listKind: 'ProxyConfigList', plural: 'proxyconfigs', singular: 'proxyconfig' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};

/** Runs a function while ProxyConfigs are served. Installs their CRD if it is missing. */
export async function withProxyConfigs<Result>(client: ApiClient, run: () => Promise<Result>): Promise<Result> {
  const kind = resourceKind(definition.apiVersion, definition.kind);
  const { name = '' } = definition.metadata;
  const isInstalled = (await client.find(kind, name)) !== undefined;
  if (!isInstalled) await applyAll(client, [definition]);
  try {
    return await run();
  } finally {
    if (!isInstalled) {
      await client.delete(definition);
      // Wait for the deletion. Otherwise, the next scenario would mistake the CRD for Istio's.
      await waitFor('the deletion of the ProxyConfig CRD', async () => (await client.find(kind, name)) === undefined);
    }
  }
}
