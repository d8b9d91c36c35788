import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { SmallRollout, verdict } from './canary-cases/small-rollout.ts';
import { checkLossSeen } from './canary/workloads.ts';

const weights = [5, 25, 50, 100];

export const canaryPromotes: Scenario = {
  name: 'canary-promotes',
  core: true,
  about:
    'a tag moves to another revision in steps of 5, 25, 50 and 100 percent of the workloads and is promoted; all shares are exact, no workload goes back, and no pod is lost',
  destructive: 'it needs the audit log of the embedded control plane',
  full: '203 workloads, about 3 minutes',
  run: async (context) => {
    const { client, size } = context;
    const count = size === 'full' ? 203 : 21;
    const churn = size === 'full' ? { pods: 4, roundMs: 250 } : undefined;
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    const early = revisionTag('stepped', 'v1');
    await context.check(
      'the API server accepts a tag before its InjectorConfig exists, also in a dry run',
      async () => {
        await client.create(early, { dryRun: true });
        return client.create(early);
      },
    );
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyTagUntilReady(client, early);
    await checkLossSeen(context, replicas, 'stepped');
    const rollout = await SmallRollout.open(context, context.requireAudit(), { tag: 'stepped', count, churn });
    const { workloads } = rollout;
    const writes = context.requireAudit();
    await rollout.edit('v2', weights, 'UntilResumed');
    const shares: number[] = [];
    for (const weight of weights) {
      const makers = await rollout.pausedAt(weight, 'v2');
      const share = rollout.share(weight);
      const statement = `at ${weight} percent, exactly ${share.size} of ${count} workloads get the canary`;
      await context.check(statement, () => found(verdict(makers, share), ''));
      shares.push(share.size);
      await rollout.ask('resume', `at-${weight}`);
    }
    await rollout.reach('promoted', ({ phase }) => phase === 'Promoted');
    await context.check('after the promotion, the canary is stable and the tag is Ready', async () => {
      const { status } = await client.get<RevisionTagObject>(revisionTags, 'stepped');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      found(status?.stableRevision ?? '', 'v2');
      found(`${ready?.status} ${ready?.reason}`, 'True Published');
      return /^\/tags\/stepped\/v2\/[0-9a-f]{8}\/inject$/.test(await rollout.path());
    });
    const last = await rollout.renewed();
    await workloads.close();
    await context.check('after the promotion, every new pod comes from the canary', () =>
      found(verdict(last, new Set(workloads.names)), ''),
    );
    await context.check('no workload went back to stable', () =>
      found(workloads.pods.flippedBack('v2', 'v1').join(), ''),
    );
    const updates = writes
      .events()
      .filter(
        ({ verb, objectRef, responseStatus }) =>
          objectRef?.name === 'sidecar-injector-tag-stepped' &&
          ['patch', 'update'].includes(verb) &&
          (responseStatus?.code ?? 0) < 300,
      );
    await context.check('the webhook was updated once per step and once for the promotion', () =>
      found(String(updates.length), String(weights.length + 1)),
    );
    const created = await workloads.checkNoneLost();
    context.measured({ workloads: count, created, lost: 0, shares: shares.map(String), updates: updates.length });
    return `${shares.join(', ')} of ${count} workloads at ${weights.join(', ')} percent; ${created} pods created, 0 lost, no workload went back`;
  },
};
