import type { OwnerReference } from '../api/kubernetes.ts';
import type { ManifestContext } from '../manifests/manifest-context.ts';
import type { ClusterView } from './cluster-view.ts';
import type { OperatorSettings } from './settings.ts';

/** The context for webhook configurations; undefined when the settings name an owner and it does not exist (any more). */
export function manifestContext(
  { context, owner: name }: OperatorSettings,
  view: ClusterView,
): ManifestContext | undefined {
  if (name === undefined) return context;
  const owner = ownerReference(name, view);
  return owner && { ...context, owner };
}

function ownerReference(name: string, view: ClusterView): OwnerReference | undefined {
  const found = view.mutatingWebhooks.get(name);
  const { uid, deletionTimestamp } = found?.metadata ?? {};
  if (found === undefined || uid === undefined || deletionTimestamp !== undefined) return undefined;
  return { apiVersion: found.apiVersion, kind: found.kind, name, uid };
}
