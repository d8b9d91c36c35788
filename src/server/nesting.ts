/** Whether a parsed JSON value nests deeper than so many levels of objects and arrays. Itself goes no deeper than that. */
export function nestsDeeperThan(maxDepth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (nestsDeeperThan(maxDepth - 1, item)) return true;
    return false;
  }
  // JSON.parse gives own members only, and Object.prototype has none that are enumerable.
  for (const name in value) if (nestsDeeperThan(maxDepth - 1, (value as Record<string, unknown>)[name])) return true;
  return false;
}
