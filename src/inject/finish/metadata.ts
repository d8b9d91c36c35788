import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { Injector } from '../injector.ts';
import { formatStatus } from '../pod/injection-status.ts';
import { joinStrings, noStrings, type Pod, type StringMap } from '../pod/pod.ts';

const networkLabel = 'topology.istio.io/network';

/** Writes down what was injected and where the proxy's network is, and adds the configured annotations. */
export function setMetadata(
  pod: Pod,
  templatePod: Pod,
  network: string | undefined,
  injector: Pick<Injector, 'family' | 'injectedAnnotations'> & { readonly settings: { readonly revision: string } },
): Pod {
  const { keys } = injector.family;
  const { revision } = injector.settings;
  const status = formatStatus(templatePod, revision);
  // Istio's templates write its annotation themselves; they cannot know another family's.
  const written: StringMap =
    keys.revision === istioKeys.revision
      ? { [keys.status]: status }
      : { [keys.revision]: revision, [keys.status]: status };
  const annotations = joinStrings(
    pod.metadata.annotations ?? noStrings,
    written,
    Object.fromEntries(injector.injectedAnnotations),
  );
  const labels: StringMap = {
    ...(pod.metadata.labels ?? noStrings),
    ...(network !== undefined && { [networkLabel]: network }),
  };
  const metadata = { ...pod.metadata, annotations, ...(Object.keys(labels).length > 0 && { labels }) };
  return { ...pod, metadata };
}
