import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { restartableKinds } from '../../rollout/restart-reasons.ts';
import { Completions } from './completions.ts';
import { recordOfBudget, type BudgetRecord } from './disruption-budget.ts';
import { recordOfWorkload, type WorkloadRecord } from './workload-record.ts';

/** Keeps a store in sync with all objects of a resource until the signal aborts. */
export type FollowCollection = <T extends KubernetesObject>(collection: {
  readonly resource: ResourceKind;
  readonly store: ObjectStore<T>;
  /** Returns the record to store for an object. */
  readonly keep: (object: KubernetesObject) => T;
  readonly fieldSelector?: string;
  readonly signal: AbortSignal;
}) => void;

export interface FollowedWorkloadsOptions {
  readonly follow: FollowCollection;
  /** Aborts to end the watches. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when restarted workloads become complete, or budgets allow or forbid disruptions. */
  readonly changed: () => void;
}

const restartable = restartableKinds.map((kind) => resourceKind('apps/v1', kind));
const disruptionBudgets = resourceKind('policy/v1', 'PodDisruptionBudget');

/** Watches workloads and PodDisruptionBudgets while a tag asks for restarts. */
export class FollowedWorkloads {
  readonly completions = new Completions();
  readonly #workloads = restartable.map((resource) => ({ resource, store: new ObjectStore<WorkloadRecord>() }));
  readonly #budgets = new ObjectStore<BudgetRecord>();

  constructor({ follow, signal, clock, changed }: FollowedWorkloadsOptions) {
    for (const { resource, store } of this.#workloads) {
      store.subscribe(({ type, object, before }) => {
        const wasKnown = this.completions.has(object);
        if (type === 'Deleted') this.completions.forget(object);
        else this.completions.note(object, clock.now().getTime());
        const isNews = type !== 'Modified' || before?.isComplete !== object.isComplete;
        if (isNews && (wasKnown || this.completions.has(object))) changed();
      });
      follow({ resource, store, keep: recordOfWorkload, signal });
    }
    this.#budgets.subscribe(({ type, object, before }) => {
      const allows = (budget?: BudgetRecord): boolean => (budget?.disruptionsAllowed ?? 0) > 0;
      if (type !== 'Modified' || allows(before) !== allows(object)) changed();
    });
    follow({ resource: disruptionBudgets, store: this.#budgets, keep: recordOfBudget, signal });
  }

  /** The plural kinds whose objects have not been listed yet, such as `Deployments`. */
  get unread(): string[] {
    const followed = [...this.#workloads, { resource: disruptionBudgets, store: this.#budgets }];
    return followed.filter(({ store }) => !store.hasSynced).map(({ resource }) => `${resource.kind}s`);
  }

  get(kind: string, namespace: string, name: string): WorkloadRecord | undefined {
    return this.#storeOf(kind)?.get(name, namespace);
  }

  /** Returns the time of the latest restart, in ms since 1970; -Infinity if there was none. */
  latestRestart(): number {
    let latest = -Infinity;
    for (const { restarts } of this.completions.annotated()) latest = Math.max(latest, restarts[0]?.at ?? -Infinity);
    return latest;
  }

  budgets(): readonly BudgetRecord[] {
    return this.#budgets.list();
  }

  /** Stores the API server's response to a write, before the watch event arrives. */
  written(object: KubernetesObject): void {
    this.#storeOf(object.kind)?.upsert(recordOfWorkload(object));
  }

  #storeOf(kind: string): ObjectStore<WorkloadRecord> | undefined {
    return this.#workloads.find(({ resource }) => resource.kind === kind)?.store;
  }
}
