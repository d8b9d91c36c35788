import { compareStrings } from '../../template/go-string.ts';
import { findContainer, replaceContainer, type Pod, joinStrings, noStrings, type StringMap } from '../pod/pod.ts';
import type { Environment } from '../pod/path-environment.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { Injector } from '../injector.ts';
import { formatStatus } from '../pod/injection-status.ts';

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

/** Gives the proxy the environment of the webhook's path and the cluster: in place of the template's variables of these names, sorted, at the end. */
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

/** An environment variable as Go encodes it: an empty value is left out. */
export function variable(name: string, value: string): { name: string; value?: string } {
  return value === '' ? { name } : { name, value };
}
