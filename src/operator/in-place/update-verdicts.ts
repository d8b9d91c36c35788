import { hashedConfigMapName, injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { InPlaceObstacle } from '../../explain/in-place.ts';
import { containerDefaults } from '../../explain/pod-resources.ts';
import { judgeUpdate, type UpdateJudgement } from '../../explain/pod-update.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { loadInjector } from '../../inject/injector.ts';
import { ApiError, isNotFound, messageOf } from '../../kube/api-error.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { type ClusterView, namespaces, pods } from '../cluster-view.ts';
import { servedFiles } from '../configurations/last-good.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { proxyConfigResource, proxyConfigs } from '../replicas/proxy-config-resources.ts';
import { resyncMs } from '../settings.ts';
import type { PodRecord } from '../usage/pod-group.ts';

export interface UpdateVerdictsOptions {
  readonly client: Pick<LeaderClient, 'list' | 'listAll'>;
  readonly view: Pick<ClusterView, 'configMaps' | 'kubelets'>;
  /** The namespace of the operator, with the ConfigMaps of configurations. */
  readonly namespace: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** A workload with stale pods. */
export interface StaleWorkload {
  readonly key: string;
  /** The configuration that new pods would get, as `N.<hash8>`. */
  readonly target: string;
  readonly pods: readonly PodRecord[];
}

/** Whether the pods of a workload can be updated in place, by one for each kubelet version. */
export interface UpdateVerdict {
  readonly target: string;
  /** What stands in the way. */
  readonly obstacle?: InPlaceObstacle;
  /** Why the pod could not be judged. */
  readonly problem?: string;
  /** When the pod was judged, according to `clock.monotonic`. */
  readonly at: number;
}

/** The maximum number of workloads to judge in a pass. Each costs four requests or more. */
const mostJudged = 10;
/**
 * How long a verdict holds, also outside the windows of the tag, when it is only shown; and how
 * long to wait after a failure. In milliseconds.
 */
const validMs = { verdict: resyncMs, shown: 3_600_000, problem: 60_000 };

/**
 * The limits of a template, as on the main thread of a replica: ten times the cost of Istio's
 * sidecar template, and a few milliseconds. A pod that exceeds them is not updated in place.
 */
const renderLimits = { steps: 20_000, outputBytes: 256 * 1024, work: 1_500_000 };

/**
 * Judges whether pods can be updated in place. A verdict on a workload costs requests, so it is
 * remembered until it expires.
 */
export class UpdateVerdicts {
  readonly #options: UpdateVerdictsOptions;
  /** The verdicts on stale workloads, by tag and `workloadKey`. */
  readonly #verdicts = new Map<string, Map<string, UpdateVerdict>>();

  constructor(options: UpdateVerdictsOptions) {
    this.#options = options;
  }

  /**
   * Returns the verdict on a workload; undefined until one of its pods is judged.
   * @param isOpen whether updates may begin now
   */
  of(tag: string, { key, target }: Omit<StaleWorkload, 'pods'>, isOpen: boolean): UpdateVerdict | undefined {
    const found = this.#verdicts.get(tag)?.get(key);
    if (found?.target !== target) return undefined;
    const valid = found.problem === undefined ? (isOpen ? 'verdict' : 'shown') : 'problem';
    return this.#options.clock.monotonic() < found.at + validMs[valid] ? found : undefined;
  }

  /** Judges workloads without a verdict, at most {@link mostJudged}, and forgets all others. */
  async judge(tag: string, stale: readonly StaleWorkload[], isOpen: boolean, signal: AbortSignal): Promise<void> {
    const before = this.#verdicts.get(tag);
    const kept = new Map<string, UpdateVerdict>();
    for (const { key } of stale) {
      const known = before?.get(key);
      if (known !== undefined) kept.set(key, known);
    }
    this.#verdicts.set(tag, kept);
    const injectors = this.injectors();
    const unknown = stale.filter((each) => this.of(tag, each, isOpen) === undefined);
    // The oldest verdicts first: new ones may expire before all workloads had their turn.
    const judgedAt = ({ key }: StaleWorkload): number => kept.get(key)?.at ?? -1;
    const inTurn = unknown.sort((one, other) => judgedAt(one) - judgedAt(other)).slice(0, mostJudged);
    for (const workload of inTurn) {
      for (const pod of this.#onePerKubelet(workload.pods)) {
        await this.inspect(tag, workload, pod, injectors, signal);
        const { obstacle, problem } = this.of(tag, workload, isOpen) ?? {};
        if (obstacle !== undefined || problem !== undefined) break;
      }
    }
  }

  /** Forgets all tags except these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of this.#verdicts.keys()) if (!tags.has(tag)) this.#verdicts.delete(tag);
  }

  /** Returns one pod for each version of the kubelet, which decides what it does with an image. */
  #onePerKubelet(pods: readonly PodRecord[]): Iterable<PodRecord> {
    const kubelets = this.#options.view.kubelets();
    const versions = new Map(kubelets.map(({ name, kubeletVersion }) => [name, kubeletVersion]));
    return new Map(pods.map((pod) => [versions.get(pod.node ?? ''), pod])).values();
  }

  /** Reads and judges a pod, and remembers the verdict; undefined if there is none. */
  async inspect(
    tag: string,
    { key, target }: Omit<StaleWorkload, 'pods'>,
    { metadata }: PodRecord,
    injectorOf: (entry: string) => NamedInjector | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly pod: KubernetesObject; readonly judgement: UpdateJudgement } | undefined> {
    const remember = (verdict: Pick<UpdateVerdict, 'obstacle' | 'problem'>): void => {
      this.#verdicts.get(tag)?.set(key, { ...verdict, target, at: this.#options.clock.monotonic() });
    };
    try {
      const pod = await this.read(metadata, signal);
      if (pod === undefined) return undefined;
      const entries = injectedByOf(pod);
      if (entries.includes(target)) {
        // An author can write any list. Without a verdict, such pods would delay all others.
        if (entries.length > 1) remember({ obstacle: namesBoth(target) });
        return undefined;
      }
      const judgement = await this.judgePod(pod, target, injectorOf, signal);
      remember('obstacle' in judgement ? { obstacle: judgement.obstacle } : {});
      return { pod, judgement };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason === 'NotLeading') throw error;
      remember({ problem: `its pods cannot be compared with new ones: ${messageOf(error)}` });
      return undefined;
    }
  }

  /** Judges a pod that was read. @throws ApiError */
  async judgePod(
    pod: KubernetesObject,
    target: string,
    injectorOf: (entry: string) => NamedInjector | undefined,
    signal: AbortSignal,
  ): Promise<UpdateJudgement> {
    const { namespace = '' } = pod.metadata;
    const after = injectorOf(target);
    if (after === undefined) throw new ApiError({ code: 0, reason: 'NotFound', message: `${target} cannot be loaded` });
    const entries = injectedByOf(pod).map(injectorOf);
    const before = entries.find((each) => each?.injector.family.keys.status === after.injector.family.keys.status);
    const isReadingProxyConfig = after.injector.readsProxyConfig || before?.injector.readsProxyConfig === true;
    const [limitRanges, services, [inNamespace], resources] = await Promise.all([
      this.#list(resourceKind('v1', 'LimitRange'), { namespace, signal }),
      this.#list(resourceKind('v1', 'Service'), { namespace, signal }),
      this.#list(namespaces, { fieldSelector: `metadata.name=${namespace}`, signal }),
      isReadingProxyConfig ? this.#list(proxyConfigs, { signal }) : [],
    ]);
    const nodes = this.#options.view.kubelets();
    const { annotations = {} } = inNamespace?.metadata ?? {};
    const request = { namespace, path: '/inject', namespaceMetadata: { annotations }, nodes };
    const { nodeName } = pod.spec as { readonly nodeName?: string };
    const selected = new Set(services.flatMap(({ spec }) => Object.keys((spec as Spec | undefined)?.selector ?? {})));
    return judgeUpdate(
      pod,
      before,
      after,
      {
        request: { ...request, proxyConfigs: resources.map(proxyConfigResource) },
        containerDefaults: containerDefaults(limitRanges),
      },
      {
        kubeletVersion: nodes.find(({ name }) => name === nodeName)?.kubeletVersion,
        isScheduled: nodeName !== undefined,
        isSelected: (label) => selected.has(label),
      },
    );
  }

  async #list(
    resource: ResourceKind,
    options: { readonly namespace?: string; readonly fieldSelector?: string; readonly signal: AbortSignal },
  ): Promise<readonly KubernetesObject[]> {
    try {
      return (await this.#options.client.listAll(resource, options)).items;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /** Reads a pod; undefined if it is gone or being deleted. */
  async read({ name = '', namespace = '', uid }: PodRecord['metadata'], signal: AbortSignal) {
    const fieldSelector = `metadata.name=${name}`;
    const { items } = await this.#options.client.list(pods, { namespace, fieldSelector, signal });
    return items.find(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp === undefined);
  }

  /** Returns a function that loads each configuration, as `N.<hash8>`, once. */
  injectors(): (entry: string) => NamedInjector | undefined {
    const { view, namespace } = this.#options;
    const loaded = new Map<string, NamedInjector | undefined>();
    const load = (entry: string): NamedInjector | undefined => {
      const [name, hash] = [entry.slice(0, -9), entry.slice(-8)] as const;
      const configMap = view.configMaps.get(hashedConfigMapName(name, hash), namespace);
      const served = configMap && servedFiles(configMap);
      try {
        return served && { name, hash, injector: loadInjector(served.files, { limits: renderLimits }) };
      } catch (error) {
        this.#options.logger.warn('failed to load a configuration', { configuration: entry, error: messageOf(error) });
        return undefined;
      }
    };
    return (entry) => {
      if (!loaded.has(entry)) loaded.set(entry, load(entry));
      return loaded.get(entry);
    };
  }
}

function namesBoth(target: string): InPlaceObstacle {
  const field = `metadata.annotations[${JSON.stringify(injectedByAnnotation)}]`;
  return { field, reason: `names an earlier configuration of the pod, too, not only ${target}` };
}

interface Spec {
  readonly selector?: Readonly<Record<string, string>>;
}
