/** Returns a copy of an object without the named members. */
export function without<Source extends Readonly<Record<string, unknown>>>(
  object: Source,
  ...names: readonly string[]
): Source {
  const copy: Record<string, unknown> = { ...object };
  for (const name of names) Reflect.deleteProperty(copy, name);
  return copy as Source;
}
