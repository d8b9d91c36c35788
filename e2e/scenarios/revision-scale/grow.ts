import type { ApiClient } from '../../../src/kube/api-client.ts';
import { applyUntilReady, smallConfig } from '../../harness/injector-configs.ts';
import { barePod, createNamespace } from '../../harness/workloads.ts';

export interface Scale {
  readonly revisions: number;
  readonly namespaces: number;
  readonly pods: number;
}

/** The scheduler and the fake kubelets leave such pods alone. */
const schedulingGates = [{ name: 'e2e.sidecar-injector.io/never' }];

export function revisionName(index: number): string {
  return `scale-${index}`;
}

export function namespaceName(index: number): string {
  return `revision-scale-${index}`;
}

/** InjectorConfigs, namespaces that follow them, and pods in these, that become more. */
export class Population {
  readonly #client: ApiClient;
  readonly #whole: Scale;
  /** By namespace. */
  readonly #pods: number[] = [];
  #there: Scale = { revisions: 0, namespaces: 0, pods: 0 };

  /** @param whole how much it is to become; at each size a revision has as many namespaces as then */
  constructor(client: ApiClient, whole: Scale) {
    this.#client = client;
    this.#whole = whole;
  }

  get scale(): Scale {
    return this.#there;
  }

  async growTo(share: number): Promise<void> {
    const from = this.#there;
    const part = (of: number): number => Math.round(of * share);
    const to = {
      revisions: part(this.#whole.revisions),
      namespaces: part(this.#whole.namespaces),
      pods: part(this.#whole.pods),
    };
    await many(from.revisions, to.revisions, 4, async (index) => {
      await applyUntilReady(this.#client, smallConfig(revisionName(index)));
    });
    await many(from.namespaces, to.namespaces, 8, (index) =>
      createNamespace(this.#client, namespaceName(index), { 'istio.io/rev': revisionName(this.revisionOf(index)) }),
    );
    await many(from.pods, to.pods, 16, async (index) => {
      const namespace = index % to.namespaces;
      const pod = barePod(namespaceName(namespace), `pod-${index}`);
      await this.#client.create({ ...pod, spec: { ...pod.spec, schedulingGates } });
      this.#pods[namespace] = this.podsIn(namespace) + 1;
    });
    this.#there = to;
  }

  revisionOf(namespace: number): number {
    return Math.floor((namespace * this.#whole.revisions) / this.#whole.namespaces);
  }

  podsIn(namespace: number): number {
    return this.#pods[namespace] ?? 0;
  }

  podsOf(revision: number): number {
    return this.#pods.reduce((sum, pods, namespace) => sum + (this.revisionOf(namespace) === revision ? pods : 0), 0);
  }
}

async function many(from: number, to: number, parallel: number, each: (index: number) => Promise<void>): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) await each(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
