import { admissionPod } from '../../inject/kubernetes/admission-pod.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { Rehearsal } from '../../inject/injection-result.ts';
import { type DryRunPlace, invalidPods, isTemporary, type PodsVerdict } from '../../inject/rehearsal/dry-run.ts';
import { type TypicalPod, typicalPods } from '../../inject/rehearsal/typical-pods.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { pods } from '../cluster-view.ts';
import type { PassContext, PassMemory, RevisionPass } from '../controller/pass-context.ts';
import { type Finding, no, type RevisionFindings, yes } from '../controller/revision-status.ts';
import type { RehearsePods } from '../ports.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { CompiledConfiguration } from './compile-configuration.ts';
import { dryRunPods } from './dry-run-pods.ts';

export interface RehearsalMemory {
  /** The configuration that was tried last, and the result; absent until pods were tried. */
  tried?: { readonly compiled: CompiledConfiguration; readonly result?: TrialResult };
}

/** The result of trying a published configuration. */
interface TrialResult {
  readonly doubts: readonly string[];
  readonly verdicts: readonly PodsVerdict[];
}

export interface ClusterRehearsalOptions extends Pick<PassContext, 'settings' | 'targets' | 'logger'> {
  readonly usage: Pick<ClusterUsage, 'podsOf'>;
  readonly memory: PassMemory<RehearsalMemory>;
  readonly client: Pick<ApiClient, 'list' | 'create'>;
  readonly rehearse: RehearsePods;
  /** Queues a pass over an InjectorConfig. */
  readonly wake: (name: string) => void;
}

/** The maximum number of pods to try, one per workload. Each pod costs one request. */
const maximumPods = 10;
/**
 * The maximum number of these pods to create as dry runs. With the 11 typical pods, and one request
 * more for each of the two groups, an edit costs at most 20 dry runs.
 */
const maximumDryRuns = 7;
/** The maximum size of a pod, in characters of JSON. Larger pods are skipped. */
const maximumPodLength = 65_536;

/**
 * Tries each configuration with typical pods before its publication, and once with pods of the
 * cluster right after it. The second trial only sets conditions, since authors of pods must not be
 * able to block a publication.
 */
export class ClusterRehearsal {
  readonly #options: ClusterRehearsalOptions;

  constructor(options: ClusterRehearsalOptions) {
    this.#options = options;
  }

  /**
   * Returns what the API server says about the typical pods that a configuration injects.
   * @param known the configuration, and its injected typical pods if they are known
   */
  async judge(
    config: InjectorConfig,
    known: Pick<CompiledConfiguration, 'files'> & Pick<Rehearsal, 'injected'>,
    signal: AbortSignal,
  ): Promise<PodsVerdict> {
    const { rehearse, client } = this.#options;
    const { files } = known;
    try {
      const { injected = [] } = known.injected
        ? known
        : await rehearse(files, typicalPods(config.spec.webhook.keys.inject));
      return await dryRunPods(client, this.#placeOf(config), injected, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError && error.reason === 'NotLeading') throw error;
      const message = `typical pods could not be tried: ${String(error)}`;
      return { invalid: [], isRefused: false, unjudged: { reason: 'DryRunUnanswered', message } };
    }
  }

  /** Returns TemplatesDoubtful and PodsNotValidated; both stay unchanged until pods were tried. */
  findings(pass: RevisionPass, compiled: CompiledConfiguration): RevisionFindings {
    const { name } = pass.config.metadata;
    const isPublished = pass.config.status?.config?.hash === compiled.hash;
    const { tried } = this.#options.memory.read(name);
    const last = tried?.compiled === compiled ? tried : undefined;
    const sample = isPublished && last === undefined ? this.#sample(pass) : undefined;
    if (sample !== undefined && sample.length > 0) void this.#try(pass, compiled, sample);
    const typical = compiled.verdict === undefined ? [] : [compiled.verdict];
    // While nothing uses the configuration, only typical pods can be tried.
    const isUnused = sample?.length === 0 && typical.length > 0;
    if (isPublished && !isUnused && last?.result === undefined) return {};
    const untried = { doubts: invalidPods(compiled.verdict, compiled.unusable), verdicts: typical };
    const { doubts: found, verdicts } = last?.result ?? untried;
    const doubts = [...compiled.doubts, ...found];
    return {
      TemplatesDoubtful: doubts.length === 0 ? no('AllFine', fine) : yes('Doubtful', doubts.join('; ')),
      PodsNotValidated: validation(verdicts),
    };
  }

  /** Returns our own namespace, which all our webhooks exclude. */
  #placeOf({ spec }: InjectorConfig): DryRunPlace {
    return { namespace: this.#options.settings.context.namespace, injectKey: spec.webhook.keys.inject };
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
    const { rehearse, wake, logger, memory, client } = this.#options;
    const { name } = config.metadata;
    const record = memory.of(name);
    record.tried = { compiled };
    try {
      const read = await Promise.all(sample.map((pod) => this.#read(pod, signal)));
      const { warnings, unusable, injected = [] } = await rehearse(compiled.files, read.flat());
      // Another process has published the configuration, or the API server did not answer then.
      const isKnown = compiled.verdict !== undefined && !isTemporary(compiled.verdict.unjudged?.reason);
      const typical = isKnown ? compiled.verdict : await this.judge(config, compiled, signal);
      const chosen = injected.slice(0, maximumDryRuns);
      const verdict = await dryRunPods(client, this.#placeOf(config), chosen, signal);
      const ofTypical = invalidPods(typical, compiled.unusable);
      const doubts = [...warnings, ...ofTypical, ...invalidPods(verdict, unusable)];
      if (record.tried.compiled === compiled)
        record.tried = { compiled, result: { doubts, verdicts: [typical, verdict] } };
      wake(name);
    } catch (error) {
      // The same process may lead again.
      const isOver = signal.aborted || (error instanceof ApiError && error.reason === 'NotLeading');
      if (isOver && record.tried.compiled === compiled) delete record.tried;
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

const fine = 'every pod that was tried was injected, and none is known to be invalid';

/** Returns condition PodsNotValidated. */
function validation(verdicts: readonly PodsVerdict[]): Finding {
  const unjudged = verdicts.find((verdict) => verdict.unjudged !== undefined)?.unjudged;
  if (unjudged === undefined) return no('Validated', 'the API server has validated injected pods');
  const { reason, message } = unjudged;
  const advice = reason === 'DryRunForbidden' ? '; to grant this right, set operator.dryRunPods of the chart' : '';
  return yes(reason, `${message}${advice}`);
}
