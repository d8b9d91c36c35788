import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { CoveringBudget, KeyedWorkload, RestartProgress } from './restart-candidate.ts';

/** A workload that is restarting, or that is about to restart. */
interface Restarting extends KeyedWorkload, RestartProgress {
  /** The tag for which the workload is restarting, if this is another tag. */
  readonly tag?: string;
  /** Whether the restart is planned, but not yet written. */
  readonly isNext?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** Counts the restarting workloads of all tags against the bounds and the disruption budgets. */
export class RestartBounds {
  readonly #bounds: RestartStrategy;
  readonly #restarting = new Map<string, Restarting>();
  readonly #byNamespace = new Map<string, Map<string, Restarting>>();
  /** The keys of the workloads that use a disruption budget, by the budget's `namespace/name`. */
  readonly #workloadsOf = new Map<string, Set<string>>();
  /** The messages for each namespace, and for the cluster (''), shared by all waiting workloads. */
  readonly #messages = new Map<string, string>();

  /** @param restarting if a workload occurs twice, the last entry counts */
  constructor(bounds: RestartStrategy, restarting: readonly Restarting[]) {
    this.#bounds = bounds;
    for (const each of restarting) {
      this.#put(each);
      // The status of the budget may already count this workload. Counting it twice is safe.
      if (each.completeSince === undefined) this.#take(each);
    }
  }

  has({ key }: KeyedWorkload): boolean {
    return this.#restarting.has(key);
  }

  /** Returns the tag for which a workload is restarting, if this is another tag. */
  otherTag({ key }: KeyedWorkload): string | undefined {
    return this.#restarting.get(key)?.tag;
  }

  add(workload: Restarting): void {
    const next = { ...workload, isNext: !this.has(workload) };
    this.#put(next);
    this.#take(next);
  }

  /** Returns a budget that allows no more disruptions, not counting the workload's own use. */
  exhausted({ key, namespace, budgets }: Restarting): string | undefined {
    const workloads = (name: string): number => {
      const found = this.#workloadsOf.get(`${namespace}/${name}`);
      return found === undefined ? 0 : found.size - (found.has(key) ? 1 : 0);
    };
    return budgets.find(({ name, disruptionsAllowed }) => disruptionsAllowed - workloads(name) < 1)?.name;
  }

  /** Returns why no other workload of this namespace may be restarted now. */
  reached(namespace: string): string | undefined {
    const { maxUnavailableWorkloads, perNamespace } = this.#bounds;
    if (this.#restarting.size >= maxUnavailableWorkloads)
      return this.#messageFor('', this.#restarting, '(maxUnavailableWorkloads)');
    const here = this.#byNamespace.get(namespace);
    if (here === undefined || here.size < perNamespace) return undefined;
    return this.#messageFor(namespace, here, '(perNamespace)');
  }

  #messageFor(namespace: string, workloads: ReadonlyMap<string, Restarting>, bound: string): string {
    const known = this.#messages.get(namespace);
    if (known !== undefined) return known;
    const all = [...workloads.values()];
    const [noun, verb] = all.length === 1 ? ['workload', 'is'] : ['workloads', 'are'];
    const where = namespace === '' ? '' : ` in namespace ${namespace}`;
    const next = all.some(({ isNext }) => isNext === true) ? ' or about to restart' : '';
    const message = `${all.length} ${noun}${where} ${verb} restarting${next}, so the maximum is reached ${bound}${forOthers(all)}`;
    this.#messages.set(namespace, message);
    return message;
  }

  #put(workload: Restarting): void {
    const { key, namespace } = workload;
    this.#restarting.set(key, workload);
    const here = this.#byNamespace.get(namespace) ?? new Map<string, Restarting>();
    this.#byNamespace.set(namespace, here.set(key, workload));
    this.#messages.clear();
  }

  #take({ key, namespace, budgets }: Restarting): void {
    for (const { name } of budgets) {
      const budget = `${namespace}/${name}`;
      const workloads = this.#workloadsOf.get(budget) ?? new Set();
      this.#workloadsOf.set(budget, workloads.add(key));
    }
  }
}

function forOthers(workloads: readonly Restarting[]): string {
  const others = workloads.filter(({ tag }) => tag !== undefined);
  const [first] = others;
  if (first?.tag === undefined) return '';
  const more = others.length === 1 ? '' : ` and ${others.length - 1} more`;
  return `; for other tags: ${first.key} (${first.tag})${more}`;
}
