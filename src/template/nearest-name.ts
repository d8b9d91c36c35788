/** No function has a longer name. */
const longestName = 64;

/** The known name that is most like an unknown one, if any is within a third of its length (at least one edit). */
export function nearestName(unknown: string, known: readonly string[]): string | undefined {
  // Comparing takes as long as both are, for each of hundreds of names.
  if (unknown.length > longestName) return undefined;
  const wanted = unknown.toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(unknown.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < least) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}

/** Levenshtein's distance: how many characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replace = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
