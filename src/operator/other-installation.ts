import type { KubernetesObject } from '../api/kubernetes.ts';

/**
 * The namespace of another installation to which a live webhook configuration leads; undefined when it is ours to write.
 * Where every webhook calls a Service of one namespace that is not ours, somebody of the same operator class lives there: their fields have the
 * same manager as ours, so nothing else tells the two apart.
 * @param namespace the namespace in which this operator lives
 */
export function otherInstallation(live: KubernetesObject | undefined, namespace: string): string | undefined {
  const webhooks = (live?.webhooks ?? []) as { clientConfig?: { service?: { namespace?: string } } }[];
  const namespaces = new Set(webhooks.map(({ clientConfig }) => clientConfig?.service?.namespace));
  const [named] = namespaces;
  return namespaces.size === 1 && named !== namespace ? named : undefined;
}
