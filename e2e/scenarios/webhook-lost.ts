import { applyObject } from '../harness/apply.ts';
import { clusterFlags, injectorOutput } from '../harness/injector-command.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { webhookNamed, webhooks } from '../harness/webhook-configurations.ts';
import { SmallRollout } from './canary-cases/small-rollout.ts';

const count = 6;

interface RestingRollout {
  readonly rollout: SmallRollout;
  readonly state: string;
  readonly share: ReadonlySet<string>;
}

export const webhookLost: Scenario = {
  name: 'webhook-lost',
  about:
    'a user, injector disable or the garbage collector deletes the webhooks of tags during a pause, during a step and after a rollback, while the leader is dead; the operator restores each path, and no other workload gets the canary',
  destructive: 'it needs the audit log of the embedded control plane, and removes the owner of its webhooks',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas({ webhooks: 1, controllers: 1, flags: ['--drain-seconds=0'] });
    await applyMarked(client, { v1: 'one', v2: 'two' });
    const audit = context.requireAudit();
    const open = (tag: string): Promise<SmallRollout> => SmallRollout.open(context, audit, { tag, count });
    const rollouts = await Promise.all([
      paused(await open('paused')),
      duringStep(context, await open('amidst')),
      rolledBack(await open('back')),
    ]);
    let lost = 0;
    for (const [how, lose, restore] of losses(context, replicas)) {
      const paths = await Promise.all(rollouts.map(({ rollout }) => rollout.path()));
      const leader = await replicas.waitForLeader();
      await Promise.all([replicas.kill(leader), lose(rollouts)]);
      await context.check(`negative control: all ${rollouts.length} webhooks of tags were deleted ${how}`, async () => {
        const { items } = await client.listAll(webhooks);
        return !items.some(({ metadata }) => metadata.name?.startsWith('sidecar-injector-tag-') === true);
      });
      lost += rollouts.length;
      await leader.operator.restart();
      await restore();
      for (const [index, { rollout, state, share }] of rollouts.entries()) {
        const path = paths[index] ?? '';
        await context.check(`the webhook of the ${state} tag, deleted ${how}, gets its path again`, async () =>
          found(await rollout.path(), path),
        );
        const statement = `after the webhook was deleted ${how}, the same ${share.size} of ${count} workloads have the canary`;
        await rollout.check(statement, await rollout.renewed(), share);
      }
    }
    await rollouts[0].rollout.ask('resume', 'on');
    await rollouts[0].rollout.promotes('after the resumed rollout is promoted, all workloads get the canary');
    context.measured({ lost });
    return `${lost} webhooks were deleted in 3 ways and 3 states while the leader was dead: the operator restored all of them, and no other workload got the canary`;
  },
};

type Loss = [
  how: string,
  lose: (rollouts: readonly RestingRollout[]) => Promise<void>,
  restore: () => Promise<unknown>,
];

function losses(context: ScenarioContext, { installation }: Replicas): Loss[] {
  const { client, cluster } = context;
  const command = async (verb: string): Promise<void> => {
    const options = verb === 'enable' ? ['--timeout', '60'] : [];
    await injectorOutput([verb, '--revision', 'v1', ...options, ...clusterFlags(cluster)]);
  };
  const owner = installation.objects.find(
    ({ kind, metadata }) => kind === webhooks.kind && metadata.name === installation.owner,
  );
  if (owner === undefined) throw new Error('the chart renders no owner of webhooks');
  return [
    [
      'by a user',
      async (rollouts) => {
        for (const { rollout } of rollouts) await client.delete(webhookNamed(`sidecar-injector-tag-${rollout.tag}`));
      },
      () => Promise.resolve(),
    ],
    ['by injector disable', () => command('disable'), () => command('enable')],
    [
      'by garbage collection after the deletion of their owner',
      () => client.delete(owner, { propagationPolicy: 'Background' }),
      () => applyObject(client, owner),
    ],
  ];
}

async function paused(rollout: SmallRollout): Promise<RestingRollout> {
  await rollout.edit('v2', [50, 100]);
  await rollout.pausedAt(50, 'v2');
  return { rollout, state: 'paused', share: rollout.share(50) };
}

/** Starts a step that cannot end, because no pod is ready for the required time. */
async function duringStep(context: ScenarioContext, rollout: SmallRollout): Promise<RestingRollout> {
  const strategy = { canary: { steps: [{ weight: 50 }, { weight: 100 }], analysis: { minReadySeconds: 3600 } } };
  await applyObject(context.client, revisionTag(rollout.tag, 'v2', { strategy }));
  await rollout.holds('a step is in progress', async () => {
    const { phase, weight } = await rollout.state();
    return phase === 'WaitingForPods' && weight === 50;
  });
  return { rollout, state: 'progressing', share: rollout.share(50) };
}

async function rolledBack(rollout: SmallRollout): Promise<RestingRollout> {
  await rollout.rollBack('v2');
  return { rollout, state: 'rolled-back', share: new Set() };
}
