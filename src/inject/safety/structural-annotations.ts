import { imageTypeAnnotation } from '../template-data/proxy-image.ts';
import { proxyConfigAnnotation } from '../mesh/proxy-config.ts';

const reasons: readonly (readonly [pattern: string, reason: string])[] = [
  ['apm.datadoghq.com/env', 'it adds variables of any name to the proxy'],
  ['gateway.istio.io/agentgatewayImage', 'it chooses the image of the gateway'],
  ['istio.io/reroute-virtual-interfaces', 'it decides which traffic passes the proxy'],
  [
    proxyConfigAnnotation,
    'it replaces the configuration of the proxy: where it gets its own from, its variables, its image',
  ],
  ['sidecar.istio.io/bootstrapOverride', 'it mounts a ConfigMap that configures the proxy'],
  ['sidecar.istio.io/capNetBindService', 'it gives the proxy a capability, and user 0'],
  ['sidecar.istio.io/discoveryAddress', 'it decides who configures the proxy'],
  ['sidecar.istio.io/interceptionMode', 'it decides whether traffic passes the proxy, and with which privileges'],
  ['sidecar.istio.io/nativeSidecar', 'it decides in which list of containers the proxy stands'],
  ['sidecar.istio.io/proxyImage', 'it chooses the image of the proxy'],
  [imageTypeAnnotation, 'it chooses the image of the proxy'],
  ['sidecar.istio.io/userVolume', 'it adds volumes'],
  ['sidecar.istio.io/userVolumeMount', 'it mounts volumes into the proxy'],
  ['traffic.sidecar.istio.io/*', 'it decides which traffic passes the proxy'],
];

/** Why an annotation of Istio's family is structural, in a clause; `undefined` for one that is not known to be. */
export function structuralReason(name: string): string | undefined {
  return reasons.find(([pattern]) => matchesName(pattern, name))?.[1];
}

/** Whether it is the name; a pattern that ends in `*` stands for all names that begin so. */
export function matchesName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}
