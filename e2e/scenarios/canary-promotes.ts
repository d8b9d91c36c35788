import { applyObject } from '../harness/apply.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found } from '../harness/wait-for.ts';
import { ask, checkLossSeen, pathOf, waitForRollout, Workloads } from './canary/workloads.ts';

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
    const count = size === 'full' ? 203 : 41;
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: ['--drain-seconds=2'] });
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyTagUntilReady(client, revisionTag('stepped', 'v1'));
    await checkLossSeen(context, replicas, 'stepped');
    const workloads = await Workloads.open(context, context.requireAudit(), 'stepped', count);
    const writes = context.startAudit();
    const strategy = {
      canary: {
        steps: weights.map((weight) => ({ weight, pause: 'UntilResumed' })),
        analysis: { minimumPods: 2, minReadySeconds: 1 },
      },
    };
    await applyObject(client, revisionTag('stepped', 'v2', { strategy }));
    const shares: string[] = [];
    for (const weight of weights) {
      const step = `at ${weight} percent`;
      await waitForRollout(context, 'stepped', `paused ${step}`, (rollout) => {
        return rollout.phase === 'Paused' && rollout.weight === weight;
      });
      await untilActive(client);
      const makers = await workloads.renew();
      const mixed = [...makers].filter(([, each]) => each.size !== 1).map(([name]) => name);
      const canary = [...makers.values()].filter((each) => each.has('v2')).length;
      const share = Math.ceil((count * weight) / 100);
      await context.check(`${step}, exactly ${share} of ${count} workloads get the canary`, () => {
        found(mixed.join(), '');
        return found(String(canary), String(share));
      });
      shares.push(`${canary}`);
      await ask(context, 'stepped', 'resume', `at-${weight}`);
    }
    await waitForRollout(context, 'stepped', 'promoted', ({ phase }) => phase === 'Promoted');
    await context.check('after the promotion, the canary is stable and the tag is Ready', async () => {
      const { status } = await client.get<RevisionTagObject>(revisionTags, 'stepped');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const path = await pathOf(context, 'stepped');
      found(status?.stableRevision ?? '', 'v2');
      found(`${ready?.status} ${ready?.reason}`, 'True Published');
      return /^\/tags\/stepped\/v2\/[0-9a-f]{8}\/inject$/.test(path);
    });
    await untilActive(client);
    const last = await workloads.renew();
    await workloads.close();
    await context.check('after the promotion, every new pod comes from the canary', () =>
      found([...new Set([...last.values()].flatMap((each) => [...each]))].join(), 'v2'),
    );
    await context.check('no workload went back to stable', () =>
      found(workloads.pods.flippedBack('v2', 'v1').join(), ''),
    );
    const updates = (writes?.events() ?? []).filter(
      ({ verb, objectRef, responseStatus }) =>
        objectRef?.name === 'sidecar-injector-tag-stepped' &&
        ['patch', 'update'].includes(verb) &&
        (responseStatus?.code ?? 0) < 300,
    );
    await context.check('the webhook was updated once per step and once for the promotion', () =>
      found(String(updates.length), String(weights.length + 1)),
    );
    const created = await workloads.checkNoneLost();
    context.measured({ workloads: count, created, lost: 0, shares, updates: updates.length });
    return `${shares.join(', ')} of ${count} workloads at ${weights.join(', ')} percent; ${created} pods created, 0 lost, no workload went back`;
  },
};
