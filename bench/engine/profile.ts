import { Session } from 'node:inspector/promises';

/** CPU time in milliseconds, by the name of the innermost named frame of each sample. */
export type ProfileShares = ReadonlyMap<string, number>;

/** A frame of a stack. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
}

/**
 * Profiles a run and adds up the samples by name.
 * @param nameOf returns the name for the time of a frame; undefined means the name of the caller
 */
export async function profileRun(
  run: () => void,
  nameOf: (frame: Frame) => string | undefined,
): Promise<ProfileShares> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const names = new Map<number, string>();
  const parents = new Map<number, number>();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id);
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const name = (id: number): string => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const node = byId.get(id);
    const parent = parents.get(id);
    const found = (node && nameOf(node.callFrame)) ?? (parent === undefined ? 'other' : name(parent));
    names.set(id, found);
    return found;
  };
  const shares = new Map<string, number>();
  const { samples = [], timeDeltas = [] } = profile;
  for (const [index, id] of samples.entries()) {
    const phase = name(id);
    shares.set(phase, (shares.get(phase) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
  return shares;
}
