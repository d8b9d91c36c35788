/** More names than these are not listed. */
const most = 20;

/** What a message says of a name that is not there: which are, and which of them was probably meant. */
export function namesThere(name: string, names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort();
  if (sorted.length === 0) return 'there are none';
  const meant = nearestName(name, sorted);
  const more = sorted.length > most ? ', …' : '';
  const advice = meant === undefined ? '' : `; ${meant} was probably meant`;
  return `there are: ${sorted.slice(0, most).join(', ')}${more}${advice}`;
}

/** The one name that was probably meant. Names with other digits are other versions. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const digits = (each: string): string => each.replaceAll(/\D/g, '');
  const near = names.filter((each) => digits(each) === digits(name) && edits(plain(each), plain(name)) <= 1);
  const same = near.filter((each) => plain(each) === plain(name));
  const [meant, ...others] = same.length > 0 ? same : near;
  return others.length === 0 ? meant : undefined;
}

/** As `1.25` and `1-25` are one for people. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]/g, '');
}

/** Levenshtein's distance. Both are label names: at most 317 characters. */
export function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 1; index <= one.length; index += 1) {
    const next = [index];
    for (let place = 1; place <= other.length; place += 1) {
      const change = (row[place - 1] ?? 0) + (one[index - 1] === other[place - 1] ? 0 : 1);
      next.push(Math.min(change, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
