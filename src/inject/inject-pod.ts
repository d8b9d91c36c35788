import { annotationProblems } from './annotations/validate-annotations.ts';
import { setClusterEnvironment } from './finish/cluster-environment.ts';
import { adjustInitContainerUser } from './finish/init-container-user.ts';
import { setMetadata } from './finish/metadata.ts';
import { orderContainers } from './finish/order-containers.ts';
import { mergePrometheus } from './finish/prometheus-merge.ts';
import { announceSecurePorts } from './finish/secure-metrics.ts';
import { reapplyOverrides } from './finish/reapply-overrides.ts';
import { InjectionFailure } from './injection-failure.ts';
import type { Injector } from './injector.ts';
import type { Message } from './mesh/decode-message.ts';
import { isJsonObject } from './patch/json-value.ts';
import { parseStatus, type InjectionStatus } from './pod/injection-status.ts';
import type { ProxyIds } from './pod/open-shift.ts';
import { reinsertOverrides, savedOverrides, type Overrides } from './pod/overrides.ts';
import type { Environment } from './pod/path-environment.ts';
import { annotationOf, labelOf, noStrings, type Pod } from './pod/pod.ts';
import { selectTemplates } from './pod/select-templates.ts';
import { stripPod } from './pod/strip-pod.ts';
import type { Workload } from './pod/workload.ts';
import { takeOverProbes } from './probes/take-over-probes.ts';
import { runTemplates } from './render/run-templates.ts';
import { proxyImage, proxyInitImage } from './template-data/proxy-image.ts';
import { templateValue } from './template-data/template-data.ts';

/** One pod and what has been found out about it. */
export interface PodInjection {
  readonly pod: Pod;
  readonly workload: Workload;
  /** The MeshConfig that holds for this pod. */
  readonly meshConfig: Message;
  /** The ProxyConfig that holds for this pod. */
  readonly proxyConfig: Message;
  /** Whether the application's containers wait for the proxy. */
  readonly holdApplication: boolean;
  readonly environment: Environment;
  readonly proxyIds: ProxyIds;
  readonly nativeSidecars: boolean;
}

const clusterVariable = 'ISTIO_META_CLUSTER_ID';
const networkVariable = 'ISTIO_META_NETWORK';

/**
 * The pod with what the templates bring and all that follows from it, in Istio's order.
 * @throws InjectionFailure
 */
export function injectPod(injector: Injector, injection: PodInjection): Pod {
  const { pod, meshConfig } = injection;
  const problems = annotationProblems(pod.metadata.annotations ?? noStrings);
  if (problems !== undefined)
    throw new InjectionFailure('InvalidAnnotation', `failed to run injection template: ${problems}`);
  const environment = effectiveEnvironment(injector, injection);
  const statusKey = injector.settings.keys.status;
  const statusPort = statusPortOf(meshConfig);
  const statusText = annotationOf(pod, statusKey);
  const status = statusText === undefined ? undefined : parseStatus(statusText);
  const saved = savedOverrides(pod);
  const stripped = status === undefined ? pod : stripPod(pod, status, statusKey, String(statusPort));
  const data = dataFor(injector, injection, reinsertOverrides(stripped, saved));
  const names = selectTemplates(pod, injector.defaultTemplates, injector.aliases);
  const rendered = runTemplates(injector.templates, names, data, pod);
  const merged = overridePod(
    rendered.pod,
    rendered.templatePod,
    injection,
    saved,
    statusText === undefined ? undefined : (status ?? unknownStatus),
  );
  let result = setClusterEnvironment(merged, environment);
  result = mergePrometheus(result, statusPort, meshConfig.enablePrometheusMerge);
  result = announceSecurePorts(result, injection.proxyConfig);
  result = takeOverProbes(result, {
    rewriteByDefault: injector.values.rewriteProbes || rendered.rewriteProbes,
    statusPort,
    statusKey,
  });
  const { keys, revision } = injector.settings;
  result = setMetadata(result, rendered.templatePod, environment.get(networkVariable), {
    keys,
    revision,
    injectedAnnotations: injector.injectedAnnotations,
  });
  return orderContainers(result, injection.holdApplication);
}

/** A status annotation that cannot be read still says that there was an injection. */
const unknownStatus: InjectionStatus = { containers: new Set(), initContainers: new Set() };

function overridePod(
  pod: Pod,
  templatePod: Pod,
  injection: PodInjection,
  saved: Overrides,
  status: InjectionStatus | undefined,
): Pod {
  const original = injection.pod;
  const result = reapplyOverrides(pod, templatePod, { original, saved, status });
  return adjustInitContainerUser(result, original, injection.proxyConfig.interceptionMode);
}

/** Cluster and network: values, then the webhook's path, then the pod's label for the network. */
function effectiveEnvironment({ values }: Injector, { pod, environment }: PodInjection): Environment {
  const cluster = environment.get(clusterVariable) ?? '';
  const pathNetwork = environment.get(networkVariable) ?? '';
  const network = labelOf(pod, 'topology.istio.io/network') ?? (pathNetwork === '' ? values.network : pathNetwork);
  const result = new Map(environment);
  const effectiveCluster = cluster === '' ? values.clusterName : cluster;
  if (effectiveCluster !== '') result.set(clusterVariable, effectiveCluster);
  if (network !== '') result.set(networkVariable, network);
  return result;
}

function dataFor(injector: Injector, injection: PodInjection, pod: Pod): unknown {
  const { values, settings } = injector;
  const { workload, meshConfig, proxyConfig, proxyIds, nativeSidecars } = injection;
  const annotations = pod.metadata.annotations ?? noStrings;
  return templateValue({
    TypeMeta: workload,
    DeploymentMeta: workload,
    ObjectMeta: pod.metadata,
    Spec: pod.spec,
    ProxyConfig: proxyConfig,
    MeshConfig: meshConfig,
    Values: values.all,
    Revision: settings.revision,
    NativeSidecars: nativeSidecars,
    ProxyImage: proxyImage(values, proxyConfig, annotations),
    ProxyInitImage: proxyInitImage(values, meshConfig.defaultConfig as Message),
    ProxyUID: proxyIds.user,
    ProxyGID: proxyIds.group,
    InboundTrafficPolicyMode: inboundTrafficPolicyMode(meshConfig),
    CompliancePolicy: settings.compliancePolicy,
  });
}

function inboundTrafficPolicyMode({ inboundTrafficPolicy }: Message): string {
  return isJsonObject(inboundTrafficPolicy) && inboundTrafficPolicy.mode === 'LOCALHOST' ? 'localhost' : 'passthrough';
}

function statusPortOf({ defaultConfig }: Message): number {
  return isJsonObject(defaultConfig) && typeof defaultConfig.statusPort === 'number' ? defaultConfig.statusPort : 0;
}
