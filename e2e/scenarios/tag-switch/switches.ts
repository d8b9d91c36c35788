import { applyObject } from '../../harness/apply.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { condition, deleteForced, injectorConfigs, waitForCondition } from '../../harness/injector-configs.ts';
import type { InjectorConfigObject } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import { applyTagUntilReady, removeTag, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Follower } from './followers.ts';

/** The namespaces of the scenario, by what they follow. */
export interface Followers {
  /** A revision, by its own label. */
  readonly byRevision: Follower;
  /** Tag `prod`. */
  readonly byTag: Follower;
  /** The default, by the injection label. */
  readonly byDefault: Follower;
}

/** A namespace is moved to another revision by its label, and back. */
export async function moveNamespace(context: ScenarioContext, { byRevision }: Followers): Promise<number> {
  let created = 0;
  for (const revision of ['v2', 'v1', 'v2']) {
    const began = Date.now();
    const target = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: byRevision.namespace } };
    await context.client.patch(target, 'merge', { metadata: { labels: { 'istio.io/rev': revision } } });
    created += await byRevision.checkSwitched(`a namespace is moved to ${revision} by its label`, revision, began);
  }
  return created;
}

/** A tag is moved to another revision and back, many times in the full size. */
export async function moveTag(context: ScenarioContext, { byTag }: Followers, rounds: number): Promise<number> {
  let created = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const revision of ['v2', 'v1']) {
      const began = Date.now();
      await applyObject(context.client, revisionTag('prod', revision));
      created += await byTag.checkSwitched(`the tag is moved to ${revision}`, revision, began);
    }
  }
  return created;
}

/** The tag follows what its revision publishes, also while the revision is edited and the tag moved at the same time. */
export async function editWhileMoving(context: ScenarioContext, { byTag }: Followers): Promise<number> {
  const { client } = context;
  const began = Date.now();
  for (const mark of ['three', 'four', 'five']) {
    await Promise.all([
      applyObject(client, markedConfig('v2', mark)),
      applyObject(client, revisionTag('prod', mark === 'four' ? 'v1' : 'v2')),
    ]);
  }
  // On its way it may have led there already, and away again.
  await applyTagUntilReady(client, revisionTag('prod', 'v2'));
  return byTag.checkSwitched('a revision is edited while the tag is moved to it and away', 'v2', began);
}

/** The default: taken over by a tag, moved by it, and given back. */
export async function switchDefault(context: ScenarioContext, { byDefault }: Followers): Promise<number> {
  const { client } = context;
  let created = 0;
  for (const revision of ['v2', 'v1', 'default', 'v2']) {
    const began = Date.now();
    await applyObject(client, revisionTag('default', revision));
    created += await byDefault.checkSwitched(`the default is switched to ${revision} by tag default`, revision, began);
  }
  await context.check('InjectorConfig default is Ready and says who stands in for it', async () => {
    const config = await client.get<InjectorConfigObject>(injectorConfigs, 'default');
    const ready = condition(config, 'Ready');
    return ready?.status === 'True' && found(ready.reason, 'Tagged');
  });
  const edited = await applyObject(client, markedConfig('default', 'later'));
  await waitForCondition(client, 'default', 'Ready', 'True', edited.metadata.generation);
  const began = Date.now();
  await removeTag(client, 'default');
  created += await byDefault.checkSwitched(
    'tag default is deleted: InjectorConfig default takes over again',
    'default',
    began,
  );
  await waitFor('it to be Ready by itself', async () => {
    const config = await client.get<InjectorConfigObject>(injectorConfigs, 'default');
    return condition(config, 'Ready')?.reason === 'Serving';
  });
  return created;
}

/** A revision that nobody uses any more is removed, while everybody else is created. */
export async function removeRevision(context: ScenarioContext, followers: Followers): Promise<number> {
  const { client } = context;
  const everybody = Object.values(followers) as Follower[];
  const began = Date.now();
  await deleteForced(client, markedConfig('v1', 'one'));
  await context.check(
    'a revision is removed after its last user: nothing of it is left',
    async () => (await client.find(injectorConfigs, 'v1')) === undefined,
  );
  let created = 0;
  for (const follower of everybody) {
    created += await follower.losses.checkNone(`and pods of ${follower.namespace} are created as before`, began);
  }
  return created;
}
