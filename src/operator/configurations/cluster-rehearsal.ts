import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import type { TypicalPod } from '../../inject/rehearsal/typical-pods.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { pods } from '../cluster-view.ts';
import type { PassContext, PassMemory, RevisionPass } from '../controller/pass-context.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { RehearsePods } from '../ports.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { CompiledConfiguration } from './compile-configuration.ts';

export interface RehearsalMemory {
  /** The configuration that was tried last, and its warnings; absent until pods were tried. */
  tried?: { readonly compiled: CompiledConfiguration; readonly doubts?: readonly string[] };
}

export interface ClusterRehearsalOptions extends Pick<PassContext, 'targets' | 'logger'> {
  readonly usage: Pick<ClusterUsage, 'podsOf'>;
  readonly memory: PassMemory<RehearsalMemory>;
  readonly client: Pick<ApiClient, 'list'>;
  readonly rehearse: RehearsePods;
  /** Queues a pass over an InjectorConfig. */
  readonly wake: (name: string) => void;
}

/** The maximum number of pods to try, one per workload. Each pod costs one request. */
const maximumPods = 10;
/** The maximum size of a pod, in characters of JSON. Larger pods are skipped. */
const maximumPodLength = 65_536;

/**
 * Tries each configuration once with pods from the cluster, right after its publication. The result
 * only sets a condition, since authors of pods must not be able to block a publication.
 */
export class ClusterRehearsal {
  readonly #options: ClusterRehearsalOptions;

  constructor(options: ClusterRehearsalOptions) {
    this.#options = options;
  }

  /** Returns TemplatesDoubtful, or undefined to leave it unchanged until pods were tried. */
  finding(pass: RevisionPass, compiled: CompiledConfiguration): Finding | undefined {
    const isPublished = pass.config.status?.config?.hash === compiled.hash;
    const { tried } = this.#options.memory.read(pass.config.metadata.name);
    const last = tried?.compiled === compiled ? tried : undefined;
    const sample = isPublished && last === undefined ? this.#sample(pass) : undefined;
    if (sample !== undefined && sample.length > 0) void this.#try(pass, compiled, sample);
    const found = sample?.length === 0 ? [] : last?.doubts;
    if (isPublished && found === undefined) return undefined;
    const doubts = [...compiled.doubts, ...(found ?? [])];
    return doubts.length === 0
      ? no('AllFine', 'every pod that was tried was injected')
      : yes('Doubtful', doubts.join('; '));
  }

  /** Returns one pod per workload that uses the InjectorConfig or one of its tags. */
  #sample({ config }: RevisionPass): PodRecord[] | undefined {
    const { usage, targets } = this.#options;
    const tags = targets.tagsOf(config);
    const users = [usage.podsOf(config.metadata.name, 'InjectorConfig'), ...tags.map((tag) => usage.podsOf(tag))];
    if (users.includes(undefined)) return undefined;
    const found = new Map<string, PodRecord>();
    for (const { traits, pods } of users.flatMap((groups) => [...(groups ?? [])])) {
      const key = workloadKey({ namespace: traits.namespace, ...traits.workload });
      for (const pod of pods.values()) found.set(key, pod);
    }
    return [...found.values()].slice(-maximumPods);
  }

  async #try({ config, signal }: RevisionPass, compiled: CompiledConfiguration, sample: PodRecord[]): Promise<void> {
    const { rehearse, wake, logger, memory } = this.#options;
    const { name } = config.metadata;
    const record = memory.of(name);
    record.tried = { compiled };
    try {
      const read = await Promise.all(sample.map((pod) => this.#read(pod, signal)));
      const doubts = await rehearse(compiled.files, read.flat());
      if (record.tried.compiled === compiled) record.tried = { compiled, doubts };
      wake(name);
    } catch (error) {
      const fields = { injectorConfig: name, error: String(error) };
      logger.warn('the configuration was not tried with pods of the cluster', fields);
    }
  }

  /** Reads a pod, unless it is gone or too large. The engine removes the sidecars from the pod. */
  async #read({ metadata: { name = '', namespace = '' } }: PodRecord, signal: AbortSignal): Promise<TypicalPod[]> {
    const fieldSelector = `metadata.name=${name}`;
    const { items } = await this.#options.client.list(pods, { namespace, fieldSelector, signal });
    return items.flatMap((stored) => {
      const { kind, name: workload } = workloadOfPod(stored, namespace);
      const pod = admissionPod(stored, namespace);
      const isLarge = JSON.stringify(pod).length > maximumPodLength;
      return isLarge ? [] : [{ kind: `${kind} ${namespace}/${workload}`, namespace, pod }];
    });
  }
}
