import type { RestartStrategy } from '../api/rollout-strategy.ts';
import type { CoveringBudget, RestartProgress } from './restart-candidate.ts';
import { workloadKey, type RolloutWorkload } from './workload-key.ts';

/** A workload that is restarting, or is to be restarted. */
interface Restarting extends RolloutWorkload, RestartProgress {
  /** For which other tag. */
  readonly tag?: string;
  readonly budgets: readonly CoveringBudget[];
}

/** The workloads that are restarting for whatever tag, and what is left of the bounds and of the budgets. */
export class RestartBounds {
  readonly #bounds: RestartStrategy;
  readonly #restarting = new Map<string, Restarting>();
  /** The keys of those in each namespace. */
  readonly #byNamespace = new Map<string, Set<string>>();
  /** `namespace/name` of a budget, and the workloads that use it up. */
  readonly #takers = new Map<string, Set<string>>();

  constructor(bounds: RestartStrategy, restarting: readonly Restarting[]) {
    this.#bounds = bounds;
    for (const each of restarting) {
      this.#put(each);
      // The budget's status may not have it yet: one too few is allowed then, never one too many.
      if (each.completeSince === undefined) this.#take(each);
    }
  }

  has(workload: RolloutWorkload): boolean {
    return this.#restarting.has(workloadKey(workload));
  }

  /** The tag for which a workload is restarting, where it is another one. */
  otherTag(workload: RolloutWorkload): string | undefined {
    return this.#restarting.get(workloadKey(workload))?.tag;
  }

  /** From now on this one is restarting, too. */
  add(workload: Restarting): void {
    this.#put(workload);
    this.#take(workload);
  }

  /** The name of a budget that allows nothing more. */
  exhausted(workload: Restarting): string | undefined {
    const { namespace, budgets } = workload;
    const takers = (name: string): number => this.#takers.get(`${namespace}/${name}`)?.size ?? 0;
    return budgets.find(({ name, disruptionsAllowed }) => disruptionsAllowed - takers(name) < 1)?.name;
  }

  /** A sentence when no other workload of this namespace may be restarted now. */
  reached(namespace: string): string | undefined {
    const { maxUnavailableWorkloads, perNamespace } = this.#bounds;
    const { size } = this.#restarting;
    if (size >= maxUnavailableWorkloads) {
      return `${size} workloads are restarting (maxUnavailableWorkloads)${forOthers([...this.#restarting.values()])}`;
    }
    const here = this.#byNamespace.get(namespace)?.size ?? 0;
    if (here < perNamespace) return undefined;
    const those = [...this.#restarting.values()].filter((each) => each.namespace === namespace);
    return `${here} workloads of ${namespace} are restarting (perNamespace)${forOthers(those)}`;
  }

  #put(workload: Restarting): void {
    const key = workloadKey(workload);
    this.#restarting.set(key, workload);
    const here = this.#byNamespace.get(workload.namespace) ?? new Set();
    this.#byNamespace.set(workload.namespace, here.add(key));
  }

  #take(workload: Restarting): void {
    for (const { name } of workload.budgets) {
      const budget = `${workload.namespace}/${name}`;
      const takers = this.#takers.get(budget) ?? new Set();
      this.#takers.set(budget, takers.add(workloadKey(workload)));
    }
  }
}

function forOthers(workloads: readonly Restarting[]): string {
  const others = workloads.filter(({ tag }) => tag !== undefined);
  const [first] = others;
  if (first?.tag === undefined) return '';
  const more = others.length === 1 ? '' : ` and ${others.length - 1} more`;
  return `, for other tags ${workloadKey(first)} (${first.tag})${more}`;
}
