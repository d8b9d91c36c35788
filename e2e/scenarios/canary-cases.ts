import type { AuditLog } from '../harness/audit-log.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { SmallRollout, verdict } from './canary-cases/small-rollout.ts';
import { failingConfig } from './canary/failing-config.ts';
import { checkNoneLost } from './canary/workloads.ts';

type Case = (context: ScenarioContext, audit: AuditLog) => Promise<SmallRollout[]>;

/** A rollout over one, two or seven workloads: the share is rounded up, and the pods that there are have to do as evidence. */
const fewWorkloads =
  (tag: string, count: number): Case =>
  async (context, audit) => {
    const rollout = await SmallRollout.open(context, audit, { tag, count });
    await rollout.edit('v2', [5, 50, 100]);
    for (const weight of [5, 50]) {
      const makers = await rollout.pausedAt(weight, 'v2');
      const share = rollout.share(weight);
      await rollout.check(`at ${weight} percent exactly ${share.size} of ${count} get it`, makers, share);
      await rollout.holds(`control: another share at ${weight} percent would not pass`, () => {
        const others = [new Set([...share].slice(1)), new Set([...share, ...makers.keys()])];
        const wrong = others.filter((other) => other.size !== share.size);
        return wrong.every((other) => verdict(makers, other) !== '');
      });
      await rollout.ask('resume', `at-${weight}`);
    }
    await rollout.promotes('promoted, all get it');
    await rollout.noneFlippedBack();
    return [rollout];
  };

const changingWorkloads: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'moving', count: 8 });
  const { workloads } = rollout;
  await rollout.edit('v2', [25, 55, 100]);
  const first = await rollout.pausedAt(25, 'v2');
  const order = rollout.ranked();
  const [inShare = '', lastInShare = '', next = ''] = order;
  const outside = order.at(-1) ?? '';
  await rollout.check('at 25 percent exactly 2 of 8 get it', first, rollout.share(25));
  await Promise.all([workloads.remove(inShare), workloads.remove(outside)]);
  const gone = Date.now();
  const [early, late] = [rollout.nameBeside(lastInShare, 'before'), rollout.nameBeside(next, 'after')];
  const made = await Promise.all([early, late, inShare].map((name) => workloads.add(name)));
  await rollout.holds(
    'one that comes gets by its rank what all get, from its first pod on; so does one that comes again',
    () => found(made.join(), 'v2,v1,v2'),
  );
  const share = new Set([inShare, lastInShare, early]);
  await rollout.check('nobody else is moved by that', await rollout.renewed(), share);
  await rollout.ask('resume', 'on');
  const makers = await rollout.pausedAt(55, 'v2');
  // One that is being restarted has no pods for a moment, so a workload counts for a minute after its last one: 6 of 10 get it then, not 5 of 9.
  const stillCounts = Date.parse((await rollout.state()).stepStartedAt ?? '') - gone < 60_000;
  const known = [...workloads.names, ...(stillCounts ? [outside] : [])];
  const half = rollout.share(55, known);
  await rollout.check(`at 55 percent exactly ${half.size} of the ${known.length} that are known by then`, makers, half);
  await rollout.ask('resume', 'on-again');
  await rollout.promotes('promoted, all get it');
  await rollout.noneFlippedBack();
  return [rollout];
};

/** Two tags on the same two revisions at once: other workloads are first, and neither knows of the other. */
const twoTags: Case = async (context, audit) => {
  const [east, west] = await Promise.all(
    (['east', 'west'] as const).map((tag) => SmallRollout.open(context, audit, { tag, count: 6 })),
  );
  if (east === undefined || west === undefined) throw new Error('two tags');
  await Promise.all([east.edit('v2', [34, 100]), west.edit('v2', [34, 100])]);
  const [eastern, western] = await Promise.all([east.pausedAt(34, 'v2'), west.pausedAt(34, 'v2')]);
  await east.check('at 34 percent exactly 3 of 6 get it', eastern, east.share(34));
  await west.check('at 34 percent exactly 3 of 6 get it, at the same time', western, west.share(34));
  const canaries = (makers: Map<string, Set<string>>): string =>
    [...makers]
      .flatMap(([name, each]) => (each.has('v2') ? [name] : []))
      .sort()
      .join();
  await east.holds('its order is another one than that of west', () => canaries(eastern) !== canaries(western));
  const westward = await west.path();
  await east.ask('promote', 'now');
  await east.promotes('promoted, all get it');
  await west.check('while east is promoted, the same 3 get it', await west.renewed(), west.share(34));
  await west.holds('and its webhook was not touched', async () => found(await west.path(), westward));
  await west.noneFlippedBack();
  await west.ask('abort', 'now');
  await west.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await west.checkAll('aborted, all get stable', 'v1');
  await east.checkAll('while west is aborted, all keep what was promoted', 'v2');
  await east.noneFlippedBack();
  return [east, west];
};

/** spec.revision is edited in the middle of a rollout, to a third revision. */
const thirdRevision: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'third', count: 6 });
  await rollout.edit('v2', [50, 100]);
  const share = rollout.share(50);
  await rollout.check('at 50 percent exactly 3 of 6 get it', await rollout.pausedAt(50, 'v2'), share);
  await rollout.edit('v3', [50, 100]);
  const makers = await rollout.pausedAt(50, 'v3');
  const third = { stable: 'v1', canary: 'v3' };
  await rollout.check('moved on to a third revision, the same 3 get that and the others stable', makers, share, third);
  await rollout.noneFlippedBack('nobody got stable in between');
  await rollout.ask('resume', 'on');
  await rollout.promotes('promoted, all get the third', 'v3');
  await rollout.noneFlippedBack('nobody flipped back', 'v3');
  return [rollout];
};

/** spec.revision is edited in the middle of a rollout, back to stable, and to the canary once more. */
const backToStable: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'back', count: 6 });
  const { workloads } = rollout;
  const before = await rollout.path();
  await rollout.edit('v2', [50, 100]);
  const share = rollout.share(50);
  await rollout.check('at 50 percent exactly 3 of 6 get it', await rollout.pausedAt(50, 'v2'), share);
  await rollout.edit('v1', [50, 100]);
  await rollout.reach('at rest', ({ phase, canary }) => phase === 'Idle' && canary === undefined);
  await rollout.holds('back at stable, its webhook is as before', async () => found(await rollout.path(), before));
  await rollout.checkAll('and all get stable', 'v1');
  await rollout.holds('control: these 3 have flipped back, and are seen to', () =>
    found(workloads.pods.flippedBack('v2', 'v1').sort().join(), [...share].sort().join()),
  );
  await rollout.edit('v2', [50, 100]);
  await rollout.check('once more, the same 3 get it', await rollout.pausedAt(50, 'v2'), share);
  return [rollout];
};

/** What was promoted is taken back by the spec, which is a rollout too; that one fails, and is rolled back. */
const rollbackOfRollback: Case = async (context, audit) => {
  const options = { tag: 'again', count: 4, revision: 'bad', isHealthy: false };
  const rollout = await SmallRollout.open(context, audit, options);
  await rollout.edit('v2', [50, 100]);
  const makers = await rollout.pausedAt(50, 'v2');
  const away = { stable: 'bad', canary: 'v2' };
  await rollout.check('away from what fails, at 50 percent 2 of 4 get v2', makers, rollout.share(50), away);
  await rollout.ask('resume', 'on');
  await rollout.promotes('promoted, all get v2');
  // The status is written before the webhook: until then its path names both, at 100 percent.
  const promoted = /^\/tags\/again\/v2\/[0-9a-f]{8}\/inject$/;
  await rollout.holds('and its webhook leads there alone', async () => promoted.test(await rollout.path()));
  await rollout.edit('bad', [50, 100]);
  const state = await rollout.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await rollout.holds('taken back, it fails and is rolled back by itself', async () => {
    const path = await rollout.path();
    if (!promoted.test(path)) throw new Error(`its webhook leads to ${path}`);
    const { reason, stable, rolledBackFrom } = state;
    return found(`${reason} ${stable.revision} ${rolledBackFrom?.revision ?? ''}`, 'PodsFailing v2 bad');
  });
  await rollout.checkAll('and all get v2 again', 'v2');
  await rollout.holds('and are ready', async () => (await rollout.workloads.ready()).size === 4);
  return [rollout];
};

/** One workload fails whatever injects it: at 100 percent no stable pod is left to show that it did so before. */
const failingAnyway: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'partly', count: 4 });
  const { workloads } = rollout;
  // How the pods were when it began is what counts: none of them may just be made again then.
  await workloads.close();
  const failing = rollout.nameBeside(rollout.ranked()[2] ?? '', 'after');
  await workloads.add(failing, { annotations: { 'e2e.sidecar-injector.io/outcome': 'crash' } });
  await rollout.edit('v1', [50, 100], 'UntilResumed');
  await rollout.seen('one of 5 fails under stable', ({ pods }) => pods.stable.failing === 1 && pods.stable.total === 5);
  await rollout.edit('v2', [50, 100], 'UntilResumed');
  const makers = await rollout.pausedAt(50, 'v2');
  await rollout.check('at 50 percent exactly 3 of 5 get it', makers, rollout.share(50));
  // While the next step waits for pods all of them are made again, and the one that fails must not be among them.
  await rollout.seen('and these are ready', ({ pods }) => pods.canary.ready === 3 && pods.canary.total === 3);
  await rollout.ask('resume', 'on');
  await rollout.reach('at 100 percent', ({ phase, weight }) => phase === 'Paused' && weight === 100);
  // It comes last, so that the share that fails is never seen while the others are on their way.
  const others = workloads.names.filter((name) => name !== failing);
  await rollout.holds('at 100 percent the others get it', async () => {
    const made = await workloads.renew(others);
    return others.every((name) => [...(made.get(name) ?? [])].join() === 'v2');
  });
  // A pod that is not ready yet is not counted: the one that fails must not be half of those that are.
  await rollout.seen('and are ready', ({ pods }) => pods.canary.ready === 4 && pods.canary.total === 4);
  await workloads.renew([failing]);
  await rollout.seen(
    'and one of 5 under the canary',
    ({ pods }) => pods.canary.failing === 1 && pods.canary.total === 5,
  );
  await rollout.ask('resume', 'to-the-end');
  await rollout.promotes('promoted, though the same one fails under the canary');
  return [rollout];
};

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

export const canaryCases: Scenario = {
  name: 'canary-cases',
  about:
    'rollouts over 1, 2 and 7 workloads, over workloads that come and go, of two tags at once, edited on the way, and taken back: exact shares, 0 lost',
  paired: true,
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    await applyMarked(client, { v1: 'one', v2: 'two', v3: 'three' });
    await applyUntilReady(client, failingConfig('bad', 'four'));
    const audit = context.requireAudit();
    // Each to its end, so that one that fails leaves nothing running.
    const ends = await Promise.allSettled(cases.map((each) => each(context, audit)));
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    for (const { message } of failed) context.say(message);
    if (failed[0] !== undefined) throw failed[0];
    const rollouts = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
    await Promise.all(rollouts.map(({ workloads }) => workloads.close()));
    const counts = rollouts.map(({ workloads }) => workloads.pods.lost());
    const created = await checkNoneLost(context, counts);
    context.measured({ tags: rollouts.length, created, lost: 0 });
    return `${rollouts.length} tags at once, each share exact; ${created} pods created, 0 lost`;
  },
};
