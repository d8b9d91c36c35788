import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { CoveringBudget, KeyedWorkload, RestartProgress } from './restart-candidate.ts';

/** A workload that is restarting or planned. */
interface Restarting extends KeyedWorkload, RestartProgress {
  /** The other tag for which it is restarting. */
  readonly tag?: string;
  /** Whether the restart is planned, but not written yet. */
  readonly isNext?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** Tracks the restarting workloads of all tags and the remaining bounds and disruption budgets. */
export class RestartBounds {
  readonly #bounds: RestartStrategy;
  readonly #restarting = new Map<string, Restarting>();
  readonly #byNamespace = new Map<string, Map<string, Restarting>>();
  /** The keys of the workloads that use a budget, by its `namespace/name`. */
  readonly #workloadsOf = new Map<string, Set<string>>();
  /** Messages of the cluster ('') and of namespaces, reused for each waiting workload. */
  readonly #said = new Map<string, string>();

  /** @param restarting the last entry counts for a workload that occurs twice */
  constructor(bounds: RestartStrategy, restarting: readonly Restarting[]) {
    this.#bounds = bounds;
    for (const each of restarting) {
      this.#put(each);
      // The status of the budget may be late. This count may allow one too few, never one too many.
      if (each.completeSince === undefined) this.#take(each);
    }
  }

  has({ key }: KeyedWorkload): boolean {
    return this.#restarting.has(key);
  }

  /** Returns the other tag for which a workload is restarting. */
  otherTag({ key }: KeyedWorkload): string | undefined {
    return this.#restarting.get(key)?.tag;
  }

  add(workload: Restarting): void {
    const next = { ...workload, isNext: !this.has(workload) };
    this.#put(next);
    this.#take(next);
  }

  /** Returns a budget without disruptions left; the workload's own use does not count. */
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
      return this.#say('', this.#restarting, '(maxUnavailableWorkloads)');
    const here = this.#byNamespace.get(namespace);
    if (here === undefined || here.size < perNamespace) return undefined;
    return this.#say(namespace, here, '(perNamespace)');
  }

  #say(namespace: string, workloads: ReadonlyMap<string, Restarting>, bound: string): string {
    const known = this.#said.get(namespace);
    if (known !== undefined) return known;
    const all = [...workloads.values()];
    const which = namespace === '' ? '' : ` of namespace ${namespace}`;
    const next = all.some(({ isNext }) => isNext === true) ? ' or next' : '';
    const said = `${all.length} workloads${which} are restarting${next} ${bound}${forOthers(all)}`;
    this.#said.set(namespace, said);
    return said;
  }

  #put(workload: Restarting): void {
    const { key, namespace } = workload;
    this.#restarting.set(key, workload);
    const here = this.#byNamespace.get(namespace) ?? new Map<string, Restarting>();
    this.#byNamespace.set(namespace, here.set(key, workload));
    this.#said.clear();
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
