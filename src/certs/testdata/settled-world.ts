import { World } from './world.ts';

/** What a pass decided, in short. */
export function decided(world: World): string[] {
  return world.last!.changes.map(({ kind, subject }) => `${kind} ${subject}`);
}

/** A world with certificates and configurations, at rest. */
export async function settledWorld(): Promise<World> {
  const world = new World();
  await world.pass();
  await world.pass();
  world.sync(0);
  world.sync(1);
  return world;
}

/** The same at the moment when the authority is due. */
export async function worldBeforeRotation(): Promise<World> {
  const world = await settledWorld();
  for (;;) {
    world.advance(world.last!.nextAt.getTime() - world.now);
    // Without a write: only to look.
    await world.pass(0);
    if (decided(world).includes('Staged Authority')) return world;
    await world.pass();
    world.sync(0);
    world.sync(1);
  }
}
