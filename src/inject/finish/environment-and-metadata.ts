import { compareStrings } from '../../template/go-string.ts';
import { findContainer, replaceContainer, type Pod, joinStrings, noStrings, type StringMap } from '../pod/pod.ts';
import type { Environment } from '../pod/path-environment.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { Injector } from '../injector.ts';
import { formatStatus } from '../pod/injection-status.ts';

const networkLabel = 'topology.istio.io/network';

/** Writes the status, the configured annotations and the network label of the proxy. */
export function setMetadata(
  pod: Pod,
  templatePod: Pod,
  network: string | undefined,
  injector: Pick<Injector, 'family' | 'injectedAnnotations'> & { readonly settings: { readonly revision: string } },
): Pod {
  const { keys } = injector.family;
  const { revision } = injector.settings;
  const status = formatStatus(templatePod, revision);
  // Istio's templates write the revision annotation of Istio's family, but of no other family.
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

/** Sets variables of the proxy, sorted by name. Replaces variables of the same name. */
export function setClusterEnvironment(pod: Pod, environment: Environment): Pod {
  const proxy = findContainer(pod, proxyContainer);
  if (proxy === undefined || environment.size === 0) return pod;
  const sorted = [...environment].sort(([left], [right]) => compareStrings(left, right));
  const env = [
    ...(proxy.env ?? []).filter(({ name }) => !environment.has(name)),
    ...sorted.map(([name, value]) => variable(name, value)),
  ];
  return replaceContainer(pod, proxy, { ...proxy, env });
}

/** Encodes an environment variable as Go does: omits an empty value. */
export function variable(name: string, value: string): { name: string; value?: string } {
  return value === '' ? { name } : { name, value };
}
