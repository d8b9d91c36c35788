import { annotationProblems } from './annotations/validate-annotations.ts';
import { setClusterEnvironment } from './finish/environment-and-metadata.ts';
import { adjustInitContainerUser } from './finish/proxy-containers.ts';
import { setMetadata } from './finish/environment-and-metadata.ts';
import { orderContainers } from './finish/proxy-containers.ts';
import { mergePrometheus, announceSecurePort } from './finish/prometheus-merge.ts';
import { Meter } from '../template/exec/meter.ts';
import { InjectionFailure } from './injection-failure.ts';
import type { InjectionRequest } from './injection-request.ts';
import type { Injector } from './injector.ts';
import { proxyConfigAnnotation } from './mesh/proxy-config.ts';
import type { Message } from './mesh/decode-message.ts';
import { proxyConfigsFor } from './mesh/proxy-configs-for.ts';
import { isJsonObject } from './patch/json-value.ts';
import { injectionStatus, parseStatus, type InjectedNames, stripPod } from './pod/injection-status.ts';
import { useNativeSidecars } from './pod/native-sidecars.ts';
import { defaultProxyIds, openShiftProxyIds, withoutAssignedProxyUser } from './pod/open-shift.ts';
import { noOverrides, reapplyOverrides, reinsertOverrides, savedOverrides } from './finish/overrides.ts';
import { parsePathEnvironment, type Environment } from './pod/path-environment.ts';
import { annotationOf, labelOf, noStrings, type Pod } from './pod/pod.ts';
import { selectTemplates } from './pod/select-templates.ts';
import { workloadOf, type Workload } from './pod/workload.ts';
import type { AuthorView } from './safety/author-inputs.ts';
import { guardAuthor } from './safety/guard-author.ts';
import { type CheckedPod, checkSameNames, hasShared, unchecked } from './safety/same-names.ts';
import { takeOverProbes } from './probes/take-over-probes.ts';
import { runTemplates, type RenderedPod } from './render/run-templates.ts';
import { proxyImage, proxyInitImage } from './template-data/proxy-image.ts';
import { templateValue } from './template-data/template-data.ts';

/** A pod and the inputs that are derived for the pod. */
type PodInjection = Readonly<ReturnType<typeof deriveInputs>>;

/**
 * The work units per character of `proxy.istio.io/config`, which is parsed as YAML twice. YAML
 * merge keys cost most: a review of half the maximum size already goes to the worker.
 */
const proxyConfigCost = 24;

const clusterVariable = 'ISTIO_META_CLUSTER_ID';
const networkVariable = 'ISTIO_META_NETWORK';

/**
 * Returns the pod with the templates' output and the changes that it requires. With preset Safe,
 * refuses a pod whose own elements change the elements that the templates add.
 * @throws InjectionFailure
 */
export function injectPod(injector: Injector, request: InjectionRequest, read: Pod, workload?: Workload): CheckedPod {
  const templated = renderTemplates(injector, request, read, workload);
  const result = finishPod(injector, templated);
  const { guard, family } = injector;
  const { pod: original, meter } = templated.injection;
  const template = templated.rendered.templatePod;
  const marks = [family.keys.status, family.overridesKey].filter((key) => annotationOf(original, key) !== undefined);
  if (guard === undefined || (marks.length === 0 && !hasShared(original, template))) return unchecked(result);
  return checkSameNames(guard, {
    original,
    template,
    result,
    marks,
    wasInjected: marks.includes(family.keys.status),
    render: (other) => {
      const reference = renderTemplates(injector, request, other, workload, meter);
      return { template: reference.rendered.templatePod, finish: () => finishPod(injector, reference) };
    },
  });
}

/** Makes the changes that the templates' output requires, in Istio's order. */
function finishPod(injector: Injector, { injection, saved, statusText, rendered }: Templated): Pod {
  const { family } = injector;
  const { pod } = injection;
  const overridden = reapplyOverrides(rendered.pod, rendered.templatePod, {
    original: pod,
    saved,
    status: statusText === undefined ? undefined : (parseStatus(statusText) ?? noNames),
    key: family.overridesKey,
  });
  const environment = family.proxy ? effectiveEnvironment(injector, injection) : noEnvironment;
  const result = family.proxy ? finishProxy(overridden, rendered, injector, injection, environment) : overridden;
  const marked = setMetadata(result, rendered.templatePod, environment.get(networkVariable), injector);
  // Only the family that adds the proxy decides the position of the proxy.
  return family.proxy ? orderContainers(marked, injection.proxyConfigs.holdApplication) : marked;
}

/** A pod with the templates' output. */
type Templated = Readonly<ReturnType<typeof renderTemplates>>;

/**
 * Renders the templates for a pod, and merges the output onto it.
 * @param shared the meter of another pod, for which this pod is a reference: it is not checked, and
 * what its annotations say about an earlier injection is ignored
 * @throws InjectionFailure
 */
export function renderTemplates(
  injector: Injector,
  request: InjectionRequest,
  read: Pod,
  workload?: Workload,
  shared?: Meter,
) {
  const { family, guard } = injector;
  /** Counts the work of all renderings for a pod. */
  const meter = shared ?? new Meter(injector.templates.limits.work);
  const injection = { ...deriveInputs(injector, request, read, workload), meter };
  const { pod } = injection;
  if (family.proxy) checkAnnotations(pod, meter);
  const statusPort = statusPortOf(injection.proxyConfigs.meshConfig);
  const statusText = annotationOf(pod, family.keys.status);
  const status = statusText === undefined ? undefined : injectionStatus(statusText);
  const isReference = shared !== undefined;
  const isAllowed = !isReference || guard?.allows(family.overridesKey) === true;
  const saved = isAllowed ? savedOverrides(pod, family.overridesKey) : noOverrides;
  const stripped =
    status === undefined ? pod : stripPod(pod, isReference ? noNames : status, family, String(statusPort));
  const names = selectTemplates(pod, family.templatesKey, injector.defaultTemplates, injector.aliases);
  const view = { pod: reinsertOverrides(stripped, saved), workload: injection.workload };
  const dataOf = (authorView: AuthorView): unknown => dataFor(injector, injection, authorView);
  const run = (authorView: AuthorView): RenderedPod =>
    runTemplates(injector.templates, names, dataOf(authorView), pod, injection.nativeSidecars, meter);
  const rendered =
    guard === undefined || isReference
      ? run(view)
      : guardAuthor(guard, injector, { ...view, original: pod, names, meter, dataFor: dataOf, run });
  return { injection, saved, statusText, rendered };
}

function deriveInputs(injector: Injector, request: InjectionRequest, read: Pod, workload: Workload | undefined) {
  const openShift = injector.settings.platform === 'OpenShift';
  const pod = openShift ? withoutAssignedProxyUser(read) : read;
  return {
    pod,
    workload: workload ?? workloadOf(pod),
    proxyConfigs: proxyConfigsFor(injector, pod, request.proxyConfigs),
    environment: new Map([...injector.environment, ...parsePathEnvironment(request.path ?? '')]),
    proxyIds: openShift ? openShiftProxyIds(request.namespaceMetadata) : defaultProxyIds,
    nativeSidecars: useNativeSidecars(injector.settings.nativeSidecars, request.nodes, pod.spec.nodeName),
  };
}

const noEnvironment: Environment = new Map();

/** @throws InjectionFailure if a value is invalid; LimitError if parsing costs too much */
function checkAnnotations(pod: Pod, meter: Meter): void {
  meter.spend((annotationOf(pod, proxyConfigAnnotation)?.length ?? 0) * proxyConfigCost);
  const problems = annotationProblems(pod.metadata.annotations ?? noStrings);
  if (problems === undefined) return;
  throw new InjectionFailure('InvalidAnnotation', `failed to run injection template: ${problems}`);
}

/** Makes the changes that a proxy needs in addition to its template's output. */
function finishProxy(
  pod: Pod,
  rendered: RenderedPod,
  injector: Injector,
  injection: PodInjection,
  environment: Environment,
): Pod {
  const { meshConfig, proxyConfig } = injection.proxyConfigs;
  const statusPort = statusPortOf(meshConfig);
  let result = adjustInitContainerUser(pod, injection.pod, proxyConfig.interceptionMode);
  result = setClusterEnvironment(result, environment);
  result = mergePrometheus(result, statusPort, meshConfig.enablePrometheusMerge);
  result = announceSecurePort(result);
  return takeOverProbes(result, {
    rewriteByDefault: injector.values.rewriteProbes || rendered.rewriteProbes,
    statusPort,
    statusKey: injector.family.keys.status,
  });
}

/** An unreadable status annotation still shows that the pod was injected before. */
const noNames: InjectedNames = { containers: new Set(), initContainers: new Set() };

/** Adds cluster and network. The webhook path overrides values; the pod's label overrides both. */
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

function dataFor(injector: Injector, injection: PodInjection, { pod, workload }: AuthorView): unknown {
  const { values, settings } = injector;
  const { proxyConfigs, proxyIds, nativeSidecars } = injection;
  const { meshConfig } = proxyConfigs;
  // Do not read the annotation unless a template uses it. (A getter would keep its closure alive.)
  const proxyConfig = injector.readsProxyConfig ? proxyConfigs.proxyConfig : (meshConfig.defaultConfig as Message);
  const annotations = pod.metadata.annotations ?? noStrings;
  return templateValue({
    TypeMeta: workload,
    DeploymentMeta: workload,
    ObjectMeta: pod.metadata,
    Spec: pod.spec,
    ProxyConfig: proxyConfig,
    MeshConfig: meshConfig,
    Values: injector.templates.changesData ? structuredClone(values.all) : values.all,
    Revision: settings.revision,
    NativeSidecars: nativeSidecars,
    ProxyImage: proxyImage(values, proxyConfig, annotations),
    ProxyInitImage: proxyInitImage(values, annotations),
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
