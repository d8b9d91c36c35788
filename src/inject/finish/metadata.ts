import type { WebhookKeys } from '../../api/webhook-keys.ts';
import { formatStatus } from '../pod/injection-status.ts';
import { noStrings, type Pod, type StringMap } from '../pod/pod.ts';

export interface MetadataSettings {
  readonly keys: WebhookKeys;
  readonly revision: string;
  readonly injectedAnnotations: ReadonlyMap<string, string>;
}

const networkLabel = 'topology.istio.io/network';

/** Writes down what was injected and where the proxy's network is, and adds the configured annotations. */
export function setMetadata(pod: Pod, templatePod: Pod, network: string | undefined, settings: MetadataSettings): Pod {
  const annotations: StringMap = {
    ...(pod.metadata.annotations ?? noStrings),
    [settings.keys.status]: formatStatus(templatePod, settings.revision),
    ...Object.fromEntries(settings.injectedAnnotations),
  };
  const labels: StringMap = {
    ...(pod.metadata.labels ?? noStrings),
    ...(network !== undefined && { [networkLabel]: network }),
  };
  const metadata = { ...pod.metadata, annotations, ...(Object.keys(labels).length > 0 && { labels }) };
  return { ...pod, metadata };
}
