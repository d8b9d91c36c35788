import { applyObject } from '../harness/apply.ts';
import { found } from '../harness/wait-for.ts';
import { untilActive } from '../harness/until-active.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { failingConfig } from './canary/failing-config.ts';
import { checkLossSeen } from './canary/loss-seen.ts';
import { checkRestartsBack } from './canary/restarts-back.ts';
import { ask, pathOf, Workloads, waitForRollout } from './canary/workloads.ts';

/** No other scenario's: the workloads of one whose namespaces are still going would count, and the rollout would wait for them. */
const tag = 'taken-back';

/** A canary whose pods fail. */
export const canaryRollsBack: Scenario = {
  name: 'canary-rolls-back',
  about:
    'a canary whose pods crash is rolled back by itself: new pods are stable at once, the reason is in the status; with rollback.restart all pods are healthy again',
  paired: true,
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const count = 12;
    const values = { operator: { restartWorkloads: true } };
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: ['--drain-seconds=2'] }, values);
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, failingConfig('v2', 'two'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    await checkLossSeen(context, replicas, tag);
    const audit = context.requireAudit();
    const workloads = await Workloads.open(context, audit, tag, count);
    const strategy = {
      canary: { steps: [{ weight: 25 }, { weight: 100 }], analysis: { minimumPods: 1, minReadySeconds: 5 } },
    };
    const before = await pathOf(context, tag);
    await applyObject(client, revisionTag(tag, 'v2', { strategy }));
    const rolled = await waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack');
    const since = Date.now();
    await context.check('the status says what failed, how many, and by which bound', () =>
      /^revision v2 was rolled back to v1 at step 1 \(25 percent\): \d+ of \d+ pods of the canary are failing.*maximumFailingPercent/.test(
        rolled.message,
      ),
    );
    await context.check('the webhook leads to stable again, as before', async () =>
      found(await pathOf(context, tag), before),
    );
    const tookMs = Date.now() - since;
    await untilActive(client);
    const makers = await workloads.renew();
    await context.check('every pod that is made then is of the stable revision', () =>
      found([...new Set([...makers.values()].flatMap((each) => [...each]))].join(), 'v1'),
    );
    // Some of them always have their pods deleted, so each is healthy at a moment of its own.
    const healthy = new Set<string>();
    await context.check('and every workload is healthy again', async () => {
      for (const each of await workloads.ready()) healthy.add(each);
      return healthy.size === count;
    });
    await context.check('the tag says that it is not where its spec says, and why', async () => {
      const { status } = await client.get<RevisionTagObject>(revisionTags, tag);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return found(`${ready?.status} ${ready?.reason} ${status?.stableRevision}`, 'False RolledBack v1');
    });
    await ask(context, tag, 'retry', 'again');
    await waitForRollout(context, tag, 'rolled back a second time', ({ phase, action, message }) => {
      return phase === 'RolledBack' && action?.nonce === 'again' && message.includes('failing');
    });
    await context.check('a retry of it is rolled back as well', async () => found(await pathOf(context, tag), before));
    await workloads.close();
    const { created, lost } = workloads.lost();
    for (const line of lost.slice(0, 5)) context.say(line);
    await context.checkNow(`0 of ${created} pods lost`, () => lost.length === 0);
    const restarted = await checkRestartsBack(context, { stable: 'v1', failing: 'v2' });
    context.measured({ workloads: count, created, lost: 0, stableAgainMilliseconds: tookMs, restartedBack: restarted });
    return `rolled back by itself twice, stable again within ${tookMs} ms of the decision; ${created} pods created, 0 lost; with rollback.restart ${restarted} workloads restarted back, all healthy`;
  },
};
