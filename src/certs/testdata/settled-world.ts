import { World } from './world.ts';

/** Returns a summary of the last pass's decisions. */
export function decided(world: World): string[] {
  return world.last!.changes.map(({ kind, subject }) => `${kind} ${subject}`);
}

/** Runs a pass with at most `writes` writes; returns a summary of its decisions. */
export async function decide(world: World, writes?: number): Promise<string[]> {
  await world.pass(writes);
  return decided(world);
}

/** Returns a world at rest, with certificates and webhook configurations. */
export async function settledWorld(): Promise<World> {
  const world = new World();
  await world.pass();
  await world.pass();
  world.syncAll();
  return world;
}

/** Returns a settled world at the moment when the authority is due. */
export async function worldBeforeRotation(): Promise<World> {
  const world = await settledWorld();
  for (;;) {
    world.advanceToNext();
    // A pass without writes shows only the decision.
    if ((await decide(world, 0)).includes('Staged Authority')) return world;
    await world.pass();
    world.syncAll();
  }
}
