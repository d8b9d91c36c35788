import { InjectionFailure } from '../injection-failure.ts';

/**
 * Finds, by bisection, an item that makes the difference: `holds` accepts the first items up to it,
 * but not those before it. It accepts all items, and would reject none.
 */
export function narrow<Item>(items: readonly Item[], holds: (items: readonly Item[]) => boolean): Item {
  let [rejected, accepted] = [0, items.length];
  while (accepted - rejected > 1) {
    const middle = (rejected + accepted) >> 1;
    if (holds(items.slice(0, middle))) accepted = middle;
    else rejected = middle;
  }
  return items[accepted - 1] as Item;
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
