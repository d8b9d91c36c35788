import type { RestartStrategy } from '../api/revision-tag/rollout-strategy.ts';
import type { CoveringBudget, KeyedWorkload, RestartProgress } from './restart-candidate.ts';

/** A workload that is restarting, or is to be restarted. */
interface Restarting extends KeyedWorkload, RestartProgress {
  /** For which other tag. */
  readonly tag?: string;
  /** It is planned, and not written yet. */
  readonly isNext?: boolean;
  readonly budgets: readonly CoveringBudget[];
}

/** The workloads that are restarting for whatever tag, and what is left of the bounds and of the budgets. */
export class RestartBounds {
  readonly #bounds: RestartStrategy;
  readonly #restarting = new Map<string, Restarting>();
  /** Those in each namespace. */
  readonly #byNamespace = new Map<string, Map<string, Restarting>>();
  /** `namespace/name` of a budget, and the keys of the workloads that use it up. */
  readonly #workloadsOf = new Map<string, Set<string>>();
  /** What has been said of the cluster (empty) and of namespaces, while nothing is added: it is asked for each that waits. */
  readonly #said = new Map<string, string>();

  /** @param restarting of one that is there twice the last counts */
  constructor(bounds: RestartStrategy, restarting: readonly Restarting[]) {
    this.#bounds = bounds;
    for (const each of restarting) {
      this.#put(each);
      // The budget's status may not have it yet: one too few is allowed then, never one too many.
      if (each.completeSince === undefined) this.#take(each);
    }
  }

  has({ key }: KeyedWorkload): boolean {
    return this.#restarting.has(key);
  }

  /** The tag for which a workload is restarting, where it is another one. */
  otherTag({ key }: KeyedWorkload): string | undefined {
    return this.#restarting.get(key)?.tag;
  }

  /** From now on this one is restarting, too. */
  add(workload: Restarting): void {
    const next = { ...workload, isNext: !this.has(workload) };
    this.#put(next);
    this.#take(next);
  }

  /** The name of a budget that allows nothing more. What a workload takes itself does not keep it from being tried again. */
  exhausted({ key, namespace, budgets }: Restarting): string | undefined {
    const workloads = (name: string): number => {
      const found = this.#workloadsOf.get(`${namespace}/${name}`);
      return found === undefined ? 0 : found.size - (found.has(key) ? 1 : 0);
    };
    return budgets.find(({ name, disruptionsAllowed }) => disruptionsAllowed - workloads(name) < 1)?.name;
  }

  /** A sentence when no other workload of this namespace may be restarted now. */
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
    const which = namespace === '' ? '' : ` of ${namespace}`;
    const next = all.some(({ isNext }) => isNext === true) ? ' or are next' : '';
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
  return `, for other tags ${first.key} (${first.tag})${more}`;
}
