/** Whether a parsed JSON value nests deeper than so many levels of objects and arrays. Itself goes no deeper than that. */
export function nestsDeeperThan(maxDepth: number, value: unknown): boolean {
  return typeof value === 'object' && value !== null && containerNests(maxDepth, value);
}

/** Most members are no objects; asking before the call, and making no list of them, makes this cheap enough for every pod. */
function containerNests(maxDepth: number, container: object): boolean {
  if (maxDepth === 0) return true;
  if (Array.isArray(container)) {
    for (const member of container as readonly unknown[]) {
      if (typeof member === 'object' && member !== null && containerNests(maxDepth - 1, member)) return true;
    }
    return false;
  }
  for (const name in container) {
    const member: unknown = container[name as keyof typeof container];
    if (typeof member === 'object' && member !== null && containerNests(maxDepth - 1, member)) return true;
  }
  return false;
}
