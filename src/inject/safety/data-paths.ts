/**
 * The paths in the templates' data from which an expression's value may come. A path lists names
 * from the root, each after a NUL; `*` is any element. A leading `=` includes all descendants:
 * a function's result may have keys that its argument does not have.
 */
export type DataPaths = ReadonlySet<string>;

export const noPaths: DataPaths = new Set();
export const root: DataPaths = new Set(['']);

/** The maximum depth. Deeper paths include all descendants, so that recursion terminates. */
const maximumDepth = 12;

/** Returns the member (or nested member) of every path. */
export function memberOf(paths: DataPaths, ...names: readonly string[]): DataPaths {
  if (names.length === 0) return paths;
  const result = new Set<string>();
  for (const path of paths) {
    if (path.startsWith('=')) result.add(path);
    else if (path.split('\0').length + names.length > maximumDepth) result.add(`=${path}`);
    else result.add([path, ...names].join('\0'));
  }
  return result;
}

/** Marks the paths as including all descendants. */
export function wholePaths(paths: DataPaths): DataPaths {
  return new Set([...paths].map((path) => (path.startsWith('=') ? path : `=${path}`)));
}

export function union(...sets: readonly DataPaths[]): DataPaths {
  const filled = sets.filter((set) => set.size > 0);
  return filled.length === 1 && filled[0] !== undefined ? filled[0] : new Set(filled.flatMap((set) => [...set]));
}

/** Returns the names of a path, from the root. */
export function namesOf(path: string): readonly string[] {
  return path.replace(/^=/, '').split('\0').slice(1);
}
