/** Whether a parsed JSON value nests deeper than so many levels of objects and arrays. Itself goes no deeper than that. */
export function nestsDeeperThan(maxDepth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  // Most members are no objects; asking here saves them the call, in what runs for every pod.
  for (const member of members) if (typeof member === 'object' && nestsDeeperThan(maxDepth - 1, member)) return true;
  return false;
}
