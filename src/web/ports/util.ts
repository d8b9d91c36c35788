/** The part of Node's `node:util` that the engine uses, for browsers: it compares JSON values. */
export function isDeepStrictEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [mine, theirs] = [left, right] as Readonly<Record<string, unknown>>[];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isDeepStrictEqual(mine?.[name], theirs?.[name]))
  );
}
