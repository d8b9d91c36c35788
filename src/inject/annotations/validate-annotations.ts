import { defaultProxyConfig, applyProxyConfig } from '../mesh/proxy-config.ts';
import { proxyConfigProblems } from '../mesh/validate-proxy-config.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import {
  blocksProblem,
  booleanProblem,
  interceptionModeProblem,
  interfacesProblem,
  portAnnotationProblem,
  portsProblem,
  quantityProblem,
  unsignedProblem,
  type ValueCheck,
} from './annotation-values.ts';

/** The annotations that parameterize Istio's templates, and the checks of their values. */
const checks: ReadonlyMap<string, ValueCheck> = new Map([
  ['istio.io/reroute-virtual-interfaces', interfacesProblem],
  ['prometheus.istio.io/merge-metrics', booleanProblem],
  ['proxy.istio.io/config', proxyConfigProblem],
  ['readiness.status.sidecar.istio.io/failureThreshold', unsignedProblem],
  ['readiness.status.sidecar.istio.io/initialDelaySeconds', unsignedProblem],
  ['readiness.status.sidecar.istio.io/periodSeconds', unsignedProblem],
  ['sidecar.istio.io/interceptionMode', interceptionModeProblem],
  ['sidecar.istio.io/proxyCPU', quantityProblem],
  ['sidecar.istio.io/proxyCPULimit', quantityProblem],
  ['sidecar.istio.io/proxyMemory', quantityProblem],
  ['sidecar.istio.io/proxyMemoryLimit', quantityProblem],
  ['status.sidecar.istio.io/port', portAnnotationProblem],
  ['traffic.sidecar.istio.io/excludeInboundPorts', portsProblem('excludeInboundPorts', false)],
  ['traffic.sidecar.istio.io/excludeInterfaces', interfacesProblem],
  ['traffic.sidecar.istio.io/excludeOutboundIPRanges', blocksProblem('excludeIPRanges', false)],
  ['traffic.sidecar.istio.io/excludeOutboundPorts', portsProblem('excludeOutboundPorts', false)],
  ['traffic.sidecar.istio.io/includeInboundPorts', portsProblem('includeInboundPorts', true)],
  ['traffic.sidecar.istio.io/includeOutboundIPRanges', blocksProblem('includeIPRanges', true)],
  ['traffic.sidecar.istio.io/kubevirtInterfaces', interfacesProblem],
]);

export const validatedAnnotations: readonly string[] = [...checks.keys()];

/** Returns all problems of a pod's annotations in one text, as Istio prints them. */
export function annotationProblems(annotations: Readonly<Record<string, string>>): string | undefined {
  const problems: string[] = [];
  for (const [name, check] of checks) {
    if (!Object.hasOwn(annotations, name)) continue;
    const value = annotations[name] ?? '';
    const problem = check(value);
    if (problem !== undefined) problems.push(`invalid value '${value}' for annotation '${name}': ${problem}`);
  }
  return problems.length === 0 ? undefined : joinErrors(problems);
}

/** Checks the annotation's value as an overlay on Istio's default ProxyConfig. */
function proxyConfigProblem(value: string): string | undefined {
  let config;
  try {
    config = applyProxyConfig(defaultProxyConfig, parseYaml(value));
  } catch (error) {
    return `failed to convert to apply proxy config: ${error instanceof Error ? error.message : String(error)}`;
  }
  const problems = proxyConfigProblems(config);
  return problems.length === 0 ? undefined : joinErrors(problems);
}

/** Formats errors as Go's go-multierror does: their number, then one line for each error. */
function joinErrors(errors: readonly string[]): string {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${heading}\n\t${errors.map((error) => `* ${error}`).join('\n\t')}\n\n`;
}
