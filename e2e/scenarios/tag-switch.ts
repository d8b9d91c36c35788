import { applyUntilReady } from '../harness/injector-configs.ts';
import { checkDeadReplicas } from '../harness/load/dead-replicas.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { Follower } from './tag-switch/followers.ts';
import { checkConditions, checkForeign, checkOrphan, checkRefusals } from './tag-switch/refusals.ts';
import {
  editWhileMoving,
  moveNamespace,
  moveTag,
  removeRevision,
  switchDefault,
  type Followers,
} from './tag-switch/switches.ts';
import { applyObject } from '../harness/apply.ts';
import { waitFor } from '../harness/wait-for.ts';

/** What Istio's users do with revisions and tags, while pods are created all along. */
export const tagSwitch: Scenario = {
  name: 'tag-switch',
  about:
    'a namespace moved by its label, a tag moved, the default switched and given back, a revision removed, all under load: 0 lost; every refusal',
  destructive: 'it installs the default revision, and needs the audit log of the embedded control plane',
  full: 'a tag moved 100 times under load, about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: ['--drain-seconds=2'] });
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, markedConfig('v2', 'two'));
    await applyUntilReady(client, markedConfig('default', 'zero'));
    await applyTagUntilReady(client, revisionTag('prod', 'v1'));
    const audit = context.requireAudit();
    const follow = (name: string, labels: Record<string, string>) => Follower.start(context, audit, name, labels, 10);
    const followers: Followers = {
      byRevision: await follow('by-revision', { 'istio.io/rev': 'v1' }),
      byTag: await follow('by-tag', { 'istio.io/rev': 'prod' }),
      byDefault: await follow('by-default', { 'istio-injection': 'enabled' }),
    };

    await checkDeadReplicas(context, replicas, followers.byTag.losses);
    await checkWrongOrder(context, followers.byDefault);
    const moves = size === 'full' ? 50 : 2;
    const created =
      (await moveNamespace(context, followers)) +
      (await moveTag(context, followers, moves)) +
      (await editWhileMoving(context, followers)) +
      (await switchDefault(context, followers)) +
      (await removeRevision(context, followers));
    await Promise.all(Object.values(followers).map((each: Follower) => each.stop()));

    const refused = await checkRefusals(context);
    await checkConditions(context, replicas);
    await checkForeign(context);
    await checkOrphan(context, replicas);
    context.measured({ created, tagMoves: 2 * moves, lost: 0, refused });
    return `${created} pods created around the switches, 0 lost, none of two configurations; ${refused} refusals at apply time`;
  },
};

/**
 * The second negative control: the old default goes before the new one is there, as Istio's `tag set default` does it. Pods are stored plain meanwhile, and
 * it is seen.
 */
export async function checkWrongOrder(context: ScenarioContext, byDefault: Follower): Promise<void> {
  const { client } = context;
  const config = markedConfig('default', 'zero');
  const began = Date.now();
  await applyObject(client, { ...config, spec: { ...config.spec, paused: true } });
  await context.check('control: the old default is switched off before the new one is on: plain pods are seen', () =>
    byDefault.losses.report(began).lost.some(({ kind }) => kind === 'plain'),
  );
  await applyObject(client, { ...config, spec: { ...config.spec, paused: false } });
  await byDefault.waitFor('default');
  const back = Date.now();
  await waitFor('pods to be created as before', () => byDefault.makersSince(back).join() === 'default');
  await byDefault.losses.checkNone('it is on again', { askedSince: back });
}
