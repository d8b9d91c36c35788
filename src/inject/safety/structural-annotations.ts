import { imageTypeAnnotation } from '../template-data/proxy-image.ts';
import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';

const reasons: readonly (readonly [pattern: string, reason: string])[] = [
  ['apm.datadoghq.com/env', 'it adds environment variables of any name to the proxy'],
  ['gateway.istio.io/agentgatewayImage', 'it chooses the image of the gateway'],
  ['istio.io/reroute-virtual-interfaces', 'it decides which traffic goes through the proxy'],
  [
    proxyConfigAnnotation,
    'it replaces the configuration of the proxy, including its control plane, environment and image',
  ],
  ['sidecar.istio.io/bootstrapOverride', 'it mounts a ConfigMap that configures the proxy'],
  ['sidecar.istio.io/capNetBindService', 'it runs the proxy as user 0 with an added capability'],
  ['sidecar.istio.io/discoveryAddress', 'it chooses the server that configures the proxy'],
  ['sidecar.istio.io/interceptionMode', 'it decides whether traffic goes through the proxy, and with which privileges'],
  ['sidecar.istio.io/nativeSidecar', 'it moves the proxy between containers and init containers'],
  ['sidecar.istio.io/proxyImage', 'it chooses the image of the proxy'],
  [imageTypeAnnotation, 'it chooses the image of the proxy'],
  ['sidecar.istio.io/userVolume', 'it adds volumes'],
  ['sidecar.istio.io/userVolumeMount', 'it mounts volumes into the proxy'],
  ['traffic.sidecar.istio.io/*', 'it decides which traffic goes through the proxy'],
];

/** Returns why an annotation of Istio is structural (docs/adr/0006); `undefined` if not listed. */
export function structuralReason(name: string): string | undefined {
  return reasons.find(([pattern]) => matchesName(pattern, name))?.[1];
}

/** Reports whether a pattern matches a name; a trailing `*` matches any suffix. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}
