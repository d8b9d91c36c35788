import type { Message } from '../mesh/decode-message.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { annotationOf, findContainer, noStrings, withAnnotations, type Pod, type StringMap } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';

/** Ports with mutual TLS that proxyMetadata opens for metrics, and the annotations in which scrapers look for them. */
const securePorts: readonly (readonly [variable: string, annotation: string])[] = [
  ['ENVOY_SECURE_MERGED_METRICS_PORT', 'prometheus.istio.io/secure-port'],
  ['ENVOY_SECURE_METRICS_PORT', 'prometheus.istio.io/secure-envoy-port'],
];

/** Announces the proxy's secure ports for metrics, where it has any and the pod does not announce others itself. */
export function announceSecurePorts(pod: Pod, { proxyMetadata }: Message): Pod {
  if (!isJsonObject(proxyMetadata) || findContainer(pod, proxyContainer) === undefined) return pod;
  const announced: Record<string, string> = {};
  for (const [variable, annotation] of securePorts) {
    const port = Object.hasOwn(proxyMetadata, variable) ? proxyMetadata[variable] : '';
    if (typeof port === 'string' && /^[1-9]\d*$/.test(port) && annotationOf(pod, annotation) === undefined)
      announced[annotation] = port;
  }
  if (Object.keys(announced).length === 0) return pod;
  const annotations: StringMap = pod.metadata.annotations ?? noStrings;
  return withAnnotations(pod, { ...annotations, ...announced });
}
