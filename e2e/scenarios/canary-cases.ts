import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import {
  backToStable,
  changingWorkloads,
  failingAnyway,
  fewWorkloads,
  rollbackOfRollback,
  thirdRevision,
  twoTags,
  type Case,
} from './canary-cases/cases.ts';
import { failingConfig } from './canary/failing-config.ts';

const cases: readonly Case[] = [
  fewWorkloads('one', 1),
  fewWorkloads('two', 2),
  fewWorkloads('seven', 7),
  changingWorkloads,
  twoTags,
  thirdRevision,
  backToStable,
  rollbackOfRollback,
  failingAnyway,
];

/** What is special about a rollout, each in a tag of its own, all at the same time; looked at by the pods that are stored. */
export const canaryCases: Scenario = {
  name: 'canary-cases',
  about:
    'rollouts over 1, 2 and 7 workloads, over workloads that come and go, of two tags at once, edited on the way, and taken back: exact shares, 0 lost',
  paired: true,
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, markedConfig('v2', 'two'));
    await applyUntilReady(client, markedConfig('v3', 'three'));
    await applyUntilReady(client, failingConfig('bad', 'four'));
    const audit = context.requireAudit();
    // Each to its end, so that one that fails leaves nothing running.
    const ends = await Promise.allSettled(cases.map((each) => each(context, audit)));
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    for (const { message } of failed) context.say(message);
    if (failed[0] !== undefined) throw failed[0];
    const rollouts = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
    await Promise.all(rollouts.map(({ workloads }) => workloads.close()));
    const counts = rollouts.map(({ workloads }) => workloads.lost());
    const created = counts.reduce((sum, each) => sum + each.created, 0);
    const lost = counts.flatMap((each) => each.lost);
    for (const line of lost.slice(0, 5)) context.say(line);
    await context.checkNow(`0 of ${created} pods lost`, () => lost.length === 0);
    context.measured({ tags: rollouts.length, created, lost: 0 });
    return `${rollouts.length} tags at once, each share exact; ${created} pods created, 0 lost`;
  },
};
