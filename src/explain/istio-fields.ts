import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { proxyContainer } from '../inject/pod/proxy-container.ts';
import type { Workload } from '../inject/pod/workload.ts';
import { workloadOfPod } from '../routing/workload-key.ts';

/** Returns what Istio's templates write into the pod itself. @param network of its proxy */
export function istioFields(pod: JsonObject, network: unknown, workload?: Workload): JsonObject {
  const { namespace } = objectAt(pod, ['metadata']);
  const [own, annotations] = [objectAt(pod, ['metadata', 'labels']), objectAt(pod, ['metadata', 'annotations'])];
  const maker = (workload ?? workloadOfPod(pod, textOf(namespace))).name;
  const name = textOf(own['app.kubernetes.io/name'] ?? own.app ?? maker).slice(0, 63);
  const first = listOf(objectAt(pod, ['spec']).containers).find((each) => each.name !== proxyContainer)?.name;
  const templates = annotations['inject.istio.io/templates'];
  const isGateway = typeof templates === 'string' && templates.includes('gateway');
  const isGrpc = typeof templates === 'string' && templates.includes('grpc');
  return {
    metadata: {
      labels: {
        'security.istio.io/tlsMode': 'istio',
        'networking.istio.io/tunnel': 'http',
        'service.istio.io/canonical-name': trimCutset(name, '-_.'),
        'service.istio.io/canonical-revision': own['app.kubernetes.io/version'] ?? own.version ?? 'latest',
        'topology.istio.io/network': network,
      },
      annotations: {
        'istio.io/rev': annotations['istio.io/rev'],
        'kubectl.kubernetes.io/default-container': first,
        'kubectl.kubernetes.io/default-logs-container': first,
        ...cniAnnotations,
        ...(isGrpc && { 'sidecar.istio.io/rewriteAppHTTPProbers': 'false' }),
      },
    },
    spec: isGateway ? { securityContext: { sysctls: [{ name: unprivilegedPorts, value: '0' }] } } : {},
  };
}

/** Removes these characters from both ends, as Go's strings.Trim does. */
function trimCutset(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const unprivilegedPorts = 'net.ipv4.ip_unprivileged_port_start';

/** The annotations with which Istio's template configures its CNI plugin by default. */
const cniAnnotations = {
  'k8s.v1.cni.cncf.io/networks': 'default/istio-cni',
  'sidecar.istio.io/interceptionMode': 'REDIRECT',
  'traffic.sidecar.istio.io/excludeInboundPorts': '15020',
  'traffic.sidecar.istio.io/includeInboundPorts': '*',
  'traffic.sidecar.istio.io/includeOutboundIPRanges': '*',
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
