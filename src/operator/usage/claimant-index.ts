import type { Claimant, ClaimedPods } from './claimant.ts';

type Labels = Readonly<Record<string, string>>;

interface Claim {
  readonly claimant: Claimant;
  readonly pods: ClaimedPods;
}

/** Finds who takes a pod without asking everybody: most webhooks require a label, and are looked up by it. */
export class ClaimantIndex {
  readonly #claimants = new Map<string, Claimant>();
  /** By what it requires: `namespace key=value`, `pod key=value`; under the empty text what requires nothing. */
  readonly #claims = new Map<string, Set<Claim>>();
  readonly #ofClaimant = new Map<Claimant, Claim[]>();

  get(id: string): Claimant | undefined {
    return this.#claimants.get(id);
  }

  all(): readonly Claimant[] {
    return [...this.#claimants.values()];
  }

  /** Adds one, or replaces the one with the same id. */
  set(claimant: Claimant): void {
    this.delete(claimant.id);
    this.#claimants.set(claimant.id, claimant);
    const claims = claimant.claims.map((pods): Claim => ({ claimant, pods }));
    this.#ofClaimant.set(claimant, claims);
    for (const claim of claims) {
      for (const anchor of anchorsOf(claim.pods)) {
        const found = this.#claims.get(anchor) ?? new Set();
        this.#claims.set(anchor, found.add(claim));
      }
    }
  }

  delete(id: string): void {
    const claimant = this.#claimants.get(id);
    if (claimant === undefined) return;
    this.#claimants.delete(id);
    for (const claim of this.#ofClaimant.get(claimant) ?? []) {
      for (const anchor of anchorsOf(claim.pods)) {
        const found = this.#claims.get(anchor);
        found?.delete(claim);
        if (found?.size === 0) this.#claims.delete(anchor);
      }
    }
    this.#ofClaimant.delete(claimant);
  }

  /** Those whose webhooks take a pod with these labels out of a namespace with these; of one family hardly ever more than one. */
  takersOf(namespaceLabels: Labels, podLabels: Labels): Claimant[] {
    const takers = new Set<Claimant>();
    for (const { claimant, pods } of this.#candidates(namespaceLabels, podLabels)) {
      if (pods.namespace(namespaceLabels) && pods.pod(podLabels)) takers.add(claimant);
    }
    return [...takers];
  }

  /** Those to which the labels of a namespace lead by themselves, whatever its pods say. */
  namedBy(namespaceLabels: Labels): Claimant[] {
    const named = new Set<Claimant>();
    for (const { claimant, pods } of this.#candidates(namespaceLabels, {})) {
      if (pods.isByNamespace && pods.namespace(namespaceLabels)) named.add(claimant);
    }
    return [...named];
  }

  *#candidates(namespaceLabels: Labels, podLabels: Labels): Iterable<Claim> {
    yield* this.#claims.get('') ?? [];
    for (const label of labelTexts(namespaceLabels)) yield* this.#claims.get(`namespace ${label}`) ?? [];
    for (const label of labelTexts(podLabels)) yield* this.#claims.get(`pod ${label}`) ?? [];
  }
}

/** Each label as `key=value` and as `key`. */
export function* labelTexts(labels: Labels): Iterable<string> {
  for (const [key, value] of Object.entries(labels)) {
    yield `${key}=${value}`;
    yield key;
  }
}

function anchorsOf({ anchor }: ClaimedPods): string[] {
  return anchor === undefined ? [''] : anchor.labels.map((label) => `${anchor.side} ${label}`);
}
