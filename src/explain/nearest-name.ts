import { edits } from '../template/edits.ts';

const maxListed = 20;

/** Lists the existing names for a message about an unknown name, with the probable correction. */
export function namesThere(name: string, names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort();
  if (sorted.length === 0) return 'none exist';
  const meant = nearestName(name, sorted);
  const more = sorted.length > maxListed ? ', …' : '';
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `existing names: ${sorted.slice(0, maxListed).join(', ')}${more}${advice}`;
}

/** Returns the similar name if there is exactly one. Versions with other digits are not similar. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const digits = (each: string): string => each.replaceAll(/\D/g, '');
  const near = names.filter((each) => digits(each) === digits(name) && edits(plain(each), plain(name)) <= 1);
  const same = near.filter((each) => plain(each) === plain(name));
  const [meant, ...others] = same.length > 0 ? same : near;
  return others.length === 0 ? meant : undefined;
}

/** Normalizes a name: users confuse `1.25` and `1-25`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]/g, '');
}
