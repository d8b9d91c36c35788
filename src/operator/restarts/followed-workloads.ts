import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { restartableKinds } from '../../rollout/restart-reasons.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import { Completions } from './completions.ts';
import { recordOfBudget, type BudgetRecord } from './disruption-budget.ts';
import { recordOfWorkload, recordedWorkload, type WorkloadRecord } from './workload-record.ts';

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
  /** The watched workloads, by kind. */
  readonly #workloads = new Map<string, ObjectStore<WorkloadRecord>>();
  readonly #budgets = new ObjectStore<BudgetRecord>();
  /** The workloads that have or had our annotation, by `workloadKey`. */
  readonly #restarted = new Map<string, WorkloadRecord>();

  constructor({ follow, signal, clock, changed }: FollowedWorkloadsOptions) {
    for (const resource of restartable) {
      const store = new ObjectStore<WorkloadRecord>();
      this.#workloads.set(resource.kind, store);
      store.subscribe(({ type, object, before }) => {
        const key = workloadKey(recordedWorkload(object));
        const wasKnown = this.#restarted.delete(key);
        if (type === 'Deleted') this.completions.forget(object);
        else this.completions.note(object, clock.now().getTime());
        // A workload still counts against the bounds after a user removes the annotation.
        const isKnown = type !== 'Deleted' && this.completions.of(object).restarts.length > 0;
        if (isKnown) this.#restarted.set(key, object);
        const isNews = type !== 'Modified' || before?.isComplete !== object.isComplete;
        if (isNews && (wasKnown || isKnown)) changed();
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
    const stores = [...this.#workloads, [disruptionBudgets.kind, this.#budgets] as const];
    return stores.filter(([, store]) => !store.hasSynced).map(([kind]) => `${kind}s`);
  }

  get(kind: string, namespace: string, name: string): WorkloadRecord | undefined {
    return this.#workloads.get(kind)?.get(name, namespace);
  }

  /** Returns every workload that was restarted for any tag. */
  annotated(): Iterable<WorkloadRecord> {
    return this.#restarted.values();
  }

  /** Returns the time of the latest restart, in ms since 1970; -Infinity if there was none. */
  latestRestart(): number {
    let latest = -Infinity;
    for (const { restarts } of this.#restarted.values()) latest = Math.max(latest, restarts[0]?.at ?? -Infinity);
    return latest;
  }

  budgets(): readonly BudgetRecord[] {
    return this.#budgets.list();
  }

  /** Stores the API server's response to a write, before the watch event arrives. */
  written(object: KubernetesObject): void {
    this.#workloads.get(object.kind)?.upsert(recordOfWorkload(object));
  }
}
