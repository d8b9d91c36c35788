import { World } from './world.ts';

/** What the last pass decided, in short. */
export function decided(world: World): string[] {
  return world.last!.changes.map(({ kind, subject }) => `${kind} ${subject}`);
}

/** Makes a pass, of `writes` writes at most, and says what it decided. */
export async function decide(world: World, writes?: number): Promise<string[]> {
  await world.pass(writes);
  return decided(world);
}

/** A world with certificates and configurations, at rest. */
export async function settledWorld(): Promise<World> {
  const world = new World();
  await world.pass();
  await world.pass();
  world.syncAll();
  return world;
}

/** The same at the moment when the authority is due. */
export async function worldBeforeRotation(): Promise<World> {
  const world = await settledWorld();
  for (;;) {
    world.advanceToNext();
    // Without a write: only to look.
    if ((await decide(world, 0)).includes('Staged Authority')) return world;
    await world.pass();
    world.syncAll();
  }
}
