import { InjectionFailure } from '../injection-failure.ts';

/** One item for which `holds` by itself, if halving finds one; otherwise the first of those that are left. Needs `holds` for all of them. */
export function narrow<Item>(items: readonly Item[], holds: (items: readonly Item[]) => boolean): Item {
  let candidates = items;
  while (candidates.length > 1) {
    const middle = candidates.length >> 1;
    const half = [candidates.slice(0, middle), candidates.slice(middle)].find(holds);
    if (half === undefined) break;
    candidates = half;
  }
  return candidates[0] as Item;
}

/** The result, or nothing where the pod would be refused. What exceeds a bound is not known to be refused. @throws InjectionFailure `TemplateLimit` */
export function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof InjectionFailure && error.reason !== 'TemplateLimit') return undefined;
    throw error;
  }
}
