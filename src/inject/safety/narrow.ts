import { InjectionFailure } from '../injection-failure.ts';

/** Finds an item that `holds` accepts, by bisection; stops if `holds` rejects both halves. */
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

/** Returns `undefined` if the pod is refused. @throws InjectionFailure `TemplateLimit` */
export function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof InjectionFailure && error.reason !== 'TemplateLimit') return undefined;
    throw error;
  }
}
