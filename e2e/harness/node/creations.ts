import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { dryRun } from '../admissions.ts';
import { isInjected, type Pod } from '../pod.ts';
import { barePod, type WorkloadOptions } from '../workloads.ts';

/** The pod belongs to a ReplicaSet, because Hold holds no bare pods. */
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'load', uid: randomUUID(), controller: true };

/** Creates ten pods a second as dry runs, and records which are refused or have a problem. */
export class Creations {
  readonly #client: ApiClient;
  readonly #pod: KubernetesObject & Pod;
  readonly #problemOf: (pod: Pod) => string | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #results: { at: number; problem: string | undefined }[] = [];

  /** @param problemOf returns the problem of a pod; by default, whether it is not injected */
  constructor(client: ApiClient, namespace: string, problemOf = notInjected, options: WorkloadOptions = {}) {
    this.#client = client;
    const pod = barePod(namespace, 'load', options);
    this.#pod = { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
    this.#problemOf = problemOf;
    this.#timer = setInterval(() => void this.#create(), 100);
  }

  /** Returns how many creations began since a time, and what failed, with the seconds after it. */
  since(time: number, isCounted: (at: number) => boolean = () => true): { made: number; problems: string[] } {
    const results = this.#results.filter(({ at }) => at >= time && isCounted(at));
    const problems = results.flatMap(({ at, problem }) =>
      problem === undefined ? [] : `after ${((at - time) / 1000).toFixed(1)} s: ${problem}`,
    );
    return { made: results.length, problems };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #create(): Promise<void> {
    const at = Date.now();
    try {
      this.#results.push({ at, problem: this.#problemOf(await dryRun(this.#client, this.#pod)) });
    } catch (error) {
      // A request that reached no API server says nothing about the webhook.
      if (error instanceof ApiError && error.code >= 400) this.#results.push({ at, problem: error.message });
    }
  }
}

/** Returns the problem of a pod without a sidecar. */
export function notInjected(pod: Pod): string | undefined {
  return isInjected(pod) ? undefined : 'not injected';
}
