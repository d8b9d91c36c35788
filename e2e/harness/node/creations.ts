import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { dryRun } from '../admissions.ts';
import { isInjected, type Pod } from '../pod.ts';
import { barePod } from '../workloads.ts';

/** The pod belongs to a ReplicaSet, because Hold holds no bare pods. */
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'load', uid: randomUUID(), controller: true };

/**
 * Creates ten pods a second as dry runs, and records which are refused or not injected. If they
 * `mayWait`, a pod that is held by scheduling gates is no problem.
 */
export class Creations {
  readonly #client: ApiClient;
  readonly #pod: KubernetesObject & Pod;
  readonly #mayWait: boolean;
  readonly #timer: NodeJS.Timeout;
  readonly #results: { at: number; problem: string | undefined }[] = [];

  constructor(client: ApiClient, namespace: string, mayWait = false) {
    this.#client = client;
    const pod = barePod(namespace, 'load');
    this.#pod = { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
    this.#mayWait = mayWait;
    this.#timer = setInterval(() => void this.#create(), 100);
  }

  /** Returns how many creations began since a time, and the problems of those that failed. */
  since(time: number): { made: number; problems: string[] } {
    const results = this.#results.filter(({ at }) => at >= time);
    return { made: results.length, problems: results.flatMap(({ problem }) => problem ?? []) };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #create(): Promise<void> {
    const at = Date.now();
    try {
      const pod = await dryRun(this.#client, this.#pod);
      const waits = this.#mayWait && 'schedulingGates' in pod.spec;
      this.#results.push({ at, problem: isInjected(pod) || waits ? undefined : 'not injected' });
    } catch (error) {
      // A request that reached no API server says nothing about the webhook.
      if (error instanceof ApiError && error.code >= 400) this.#results.push({ at, problem: error.message });
    }
  }
}
