import { applyObject } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { brokenConfig } from './canary/failing-config.ts';
import { pathOf, waitForRollout, Workloads } from './canary/workloads.ts';

/** A unique tag: workloads of deleted namespaces count for a minute and would delay the rollout. */
const tag = 'shaded';

export const canaryShadow: Scenario = {
  name: 'canary-shadow',
  about: 'without affecting pods, a shadow step detects a broken template and reports the changes by a good template',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const count = 8;
    await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    await applyMarked(client, { v1: 'one', v3: 'three' });
    await applyUntilReady(client, brokenConfig('v2', 'two'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    const workloads = await Workloads.open(context, context.requireAudit(), tag, count);
    const strategy = {
      canary: {
        steps: [{ weight: 0, shadow: true, pause: 'UntilResumed' }, { weight: 100 }],
        analysis: { minimumPods: 5, minReadySeconds: 1 },
      },
    };
    const before = await pathOf(context, tag);
    await applyObject(client, revisionTag(tag, 'v2', { strategy }));
    const broken = await waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack');
    await context.check('the shadow step detects a failing template, and the status contains its error', () =>
      /^revision v2 was rolled back to v1 at step 1 \(0 percent\): the canary failed for .*this canary is broken/s.test(
        broken.message,
      ),
    );
    await context.check('the path of the webhook names only stable again', async () =>
      found(await pathOf(context, tag), before),
    );
    await applyObject(client, revisionTag(tag, 'v3', { strategy }));
    const good = await waitForRollout(
      context,
      tag,
      'paused after the comparison',
      ({ phase, shadow }) => phase === 'Paused' && shadow,
    );
    await context.check('the status lists the fields that a working canary would change', () => {
      const { compared = 0, failed, changed = [] } = good.shadowReport ?? {};
      const fields = changed.join(', ');
      return compared >= 5 && failed === 0 && fields.includes('spec.containers[marked].image');
    });
    await applyObject(client, revisionTag(tag, 'v3', { strategy: { ...strategy, restart: {} } }));
    await context.check(
      'if the operator may not restart workloads, the status names the flag and the chart value that allow restarts',
      async () => {
        const { phase, message } = await restartsOf(context, tag);
        return phase === 'NotAllowed' && /--restart-workloads.*operator\.restartWorkloads/s.test(message);
      },
    );
    const makers = await workloads.renew();
    await context.check('no pod comes from a canary', () => {
      found([...new Set([...makers.values()].flatMap((each) => [...each]))].join(), 'v1');
      return found([...new Set(workloads.pods.seen.map(({ maker }) => maker))].join(), 'v1');
    });
    const created = await workloads.checkNoneLost();
    context.measured({ workloads: count, created, lost: 0, compared: good.shadowReport?.compared ?? 0 });
    return `a broken canary was rolled back after ${broken.shadowReport?.compared ?? 0} comparisons, a good canary was not; ${created} pods created, all from stable, 0 lost`;
  },
};
