import { rankOf } from '../../../src/routing/workload-key.ts';

/** Deployments of one namespace, in the order in which a tag hands out the canary. */
export function ranked(tag: string, namespace: string, names: readonly string[]): string[] {
  const rank = (name: string): string => rankOf(tag, { namespace, kind: 'Deployment', name });
  return [...names].sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

/** A name that nobody has, of a Deployment that comes in that order before one, or after one. */
export function nameBeside(
  tag: string,
  namespace: string,
  { before, after }: { readonly before?: string; readonly after?: string },
): string {
  const candidates = Array.from({ length: 1000 }, (_, index) => `late-${index}`);
  const name = candidates.find((candidate) => {
    const [first, second = ''] = ranked(tag, namespace, [before ?? after ?? '', candidate]);
    return before === undefined ? second === candidate : first === candidate;
  });
  if (name === undefined) throw new Error(`no name of a thousand is on that side`);
  return name;
}

/** The Deployments that are to get the canary when a step begins: exactly the share of those known then, rounded up, the first by rank. */
export function shareOf(tag: string, namespace: string, known: readonly string[], percent: number): Set<string> {
  return new Set(ranked(tag, namespace, known).slice(0, Math.ceil((known.length * percent) / 100)));
}

/** What is wrong with the pods that are stored: each Deployment of the share has to have pods of the canary alone, each other of stable alone. */
export function verdict(
  makers: ReadonlyMap<string, ReadonlySet<string>>,
  share: ReadonlySet<string>,
  { stable, canary }: { readonly stable: string; readonly canary: string },
): string {
  return [...makers]
    .flatMap(([name, each]) => {
      const expected = share.has(name) ? canary : stable;
      const got = [...each].sort().join(' and ');
      return got === expected ? [] : [`${name} has ${got} instead of ${expected}`];
    })
    .sort()
    .join(', ');
}
