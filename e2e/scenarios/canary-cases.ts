import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { applyObject } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import {
  applyTagUntilReady,
  restartsOf,
  revisionTag,
  revisionTags,
  type RevisionTagObject,
} from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { sideBySide } from '../harness/side-by-side.ts';
import { untilActive } from '../harness/until-active.ts';
import { found } from '../harness/wait-for.ts';
import { SmallRollout, verdict } from './canary-cases/small-rollout.ts';
import { checkNoneLost } from './canary/workloads.ts';

type Case = (context: ScenarioContext, audit: AuditLog) => Promise<SmallRollout[]>;

/** Checks a rollout of few workloads: shares are rounded up, and steps require few pods. */
const fewWorkloads =
  (tag: string, count: number): Case =>
  async (context, audit) => {
    const rollout = await SmallRollout.open(context, audit, { tag, count });
    await rollout.edit('v2', [5, 50, 100]);
    for (const weight of [5, 50]) {
      const makers = await rollout.pausedAt(weight, 'v2');
      const share = rollout.share(weight);
      await rollout.check(`${share.size} of ${count} workloads get the canary at ${weight} percent`, makers, share);
      await rollout.holds(`negative control: the check refuses any other share at ${weight} percent`, () => {
        const others = [new Set([...share].slice(1)), new Set([...share, ...makers.keys()])];
        const wrong = others.filter((other) => other.size !== share.size);
        return wrong.every((other) => verdict(makers, other) !== '');
      });
      await rollout.ask('resume', `at-${weight}`);
    }
    await rollout.promotes('after the promotion, all workloads get the canary');
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
  await rollout.check('2 of 8 workloads get the canary at 25 percent', first, rollout.share(25));
  await Promise.all([workloads.remove(inShare), workloads.remove(outside)]);
  const gone = Date.now();
  const [early, late] = [rollout.nameBeside(lastInShare, 'before'), rollout.nameBeside(next, 'after')];
  const made = await Promise.all([early, late, inShare].map((name) => workloads.add(name)));
  await rollout.holds('from the first pod on, the rank of a new or recreated workload decides its revision', () =>
    found(made.join(), 'v2,v1,v2'),
  );
  const share = new Set([inShare, lastInShare, early]);
  await rollout.check('all other workloads keep the revision that they had before', await rollout.renewed(), share);
  await rollout.ask('resume', 'on');
  const makers = await rollout.pausedAt(55, 'v2');
  // A workload counts for a minute after its last pod ended, because a restart may end all pods.
  // Until then, 6 of 10 workloads get the canary instead of 5 of 9.
  const stillCounts = Date.parse((await rollout.state()).stepStartedAt ?? '') - gone < 60_000;
  const known = [...workloads.names, ...(stillCounts ? [outside] : [])];
  const half = rollout.share(55, known);
  await rollout.check(`${half.size} of ${known.length} known workloads get the canary at 55 percent`, makers, half);
  await rollout.ask('resume', 'on-again');
  await rollout.promotes('after the promotion, all workloads get the canary');
  await rollout.noneFlippedBack();
  return [rollout];
};

/** Two tags roll out the same revisions at the same time. Each tag has its own workload order. */
const twoTags: Case = async (context, audit) => {
  const [east, west] = await Promise.all(
    (['east', 'west'] as const).map((tag) => SmallRollout.open(context, audit, { tag, count: 6 })),
  );
  if (east === undefined || west === undefined) throw new Error('expected two tags');
  await Promise.all([east.edit('v2', [34, 100]), west.edit('v2', [34, 100])]);
  const [eastern, western] = await Promise.all([east.pausedAt(34, 'v2'), west.pausedAt(34, 'v2')]);
  await east.check('3 of 6 workloads get the canary at 34 percent', eastern, east.share(34));
  await west.check('3 of 6 workloads get the canary at 34 percent', western, west.share(34));
  const canaries = (makers: Map<string, Set<string>>): string =>
    [...makers]
      .flatMap(([name, each]) => (each.has('v2') ? [name] : []))
      .sort()
      .join();
  await east.holds('the tags east and west choose different workloads', () => canaries(eastern) !== canaries(western));
  const westward = await west.path();
  await east.ask('promote', 'now');
  await east.promotes('after the promotion, all workloads get the canary');
  await west.check('the promotion of east does not affect west', await west.renewed(), west.share(34));
  await west.holds('the promotion of east keeps the path of west', async () => found(await west.path(), westward));
  await west.noneFlippedBack();
  await west.ask('abort', 'now');
  await west.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await west.checkAll('after the abort, all workloads get stable', 'v1');
  await east.checkAll('the abort of west leaves the promoted revision on all workloads', 'v2');
  await east.noneFlippedBack();
  return [east, west];
};

/** A user changes spec.revision to a third revision during a rollout. */
const thirdRevision: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'third', count: 6 });
  await rollout.edit('v2', [50, 100]);
  const share = rollout.share(50);
  await rollout.check('3 of 6 workloads get the canary at 50 percent', await rollout.pausedAt(50, 'v2'), share);
  await rollout.edit('v3', [50, 100]);
  const makers = await rollout.pausedAt(50, 'v3');
  const third = { stable: 'v1', canary: 'v3' };
  await rollout.check('the same 3 workloads get the third revision after the edit', makers, share, third);
  await rollout.noneFlippedBack('no workload with the canary got stable in between');
  await rollout.ask('resume', 'on');
  await rollout.promotes('after the promotion, all workloads get the third revision', 'v3');
  await rollout.noneFlippedBack('no workload went back to stable', 'v3');
  return [rollout];
};

/** During a rollout, a user changes spec.revision back to stable, then to the canary again. */
const backToStable: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'back', count: 6 });
  const { workloads } = rollout;
  const before = await rollout.path();
  await rollout.edit('v2', [50, 100]);
  const share = rollout.share(50);
  await rollout.check('3 of 6 workloads get the canary at 50 percent', await rollout.pausedAt(50, 'v2'), share);
  await rollout.edit('v1', [50, 100]);
  await rollout.reach('at rest', ({ phase, canary }) => phase === 'Idle' && canary === undefined);
  await rollout.holds('the webhook has its earlier path again', async () => found(await rollout.path(), before));
  await rollout.checkAll('after the edit back to stable, all workloads get stable', 'v1');
  await rollout.holds('negative control: the test detects that these 3 workloads went back to stable', () =>
    found(workloads.pods.flippedBack('v2', 'v1').sort().join(), [...share].sort().join()),
  );
  await rollout.edit('v2', [50, 100]);
  await rollout.check('the same 3 workloads get the canary again', await rollout.pausedAt(50, 'v2'), share);
  return [rollout];
};

/** After a promotion, a user reverts spec.revision. The new rollout fails and is rolled back. */
const rollbackOfRollback: Case = async (context, audit) => {
  const options = { tag: 'again', count: 4, revision: 'bad', isHealthy: false };
  const rollout = await SmallRollout.open(context, audit, options);
  await rollout.edit('v2', [50, 100]);
  const makers = await rollout.pausedAt(50, 'v2');
  const away = { stable: 'bad', canary: 'v2' };
  await rollout.check('2 of 4 workloads get v2 at 50 percent', makers, rollout.share(50), away);
  await rollout.ask('resume', 'on');
  await rollout.promotes('after the promotion, all workloads get v2');
  // The operator writes the webhook after the status. Until then, the path names both revisions.
  const promoted = /^\/tags\/again\/v2\/[0-9a-f]{8}\/inject$/;
  await rollout.holds('the path of the webhook names only v2', async () => promoted.test(await rollout.path()));
  const before = await rollout.path();
  await rollout.edit('bad', [50, 100]);
  const state = await rollout.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await rollout.holds('after the revert, the pods fail and the operator rolls back', () => {
    const { reason, stable, rolledBackFrom } = state;
    return found(`${reason} ${stable.revision} ${rolledBackFrom?.revision ?? ''}`, 'PodsFailing v2 bad');
  });
  await rollout.holds('the status names the failure, the number of failing pods, and the bound', () =>
    /^revision bad was rolled back to v2 at step 1 \(50 percent\): \d+ of \d+ pods of the canary are failing.*maximumFailingPercent\): pod \S+, container \S+: CrashLoopBackOff/.test(
      state.message,
    ),
  );
  await rollout.holds('the webhook has its earlier path to stable again', async () =>
    found(await rollout.path(), before),
  );
  await rollout.checkAll('after the rollback, all workloads get v2 again', 'v2');
  await rollout.holds('all pods are ready again', async () => (await rollout.workloads.ready()).size === 4);
  await rollout.holds('condition Ready of the tag is False with reason RolledBack', async () => {
    const { status } = await context.client.get<RevisionTagObject>(revisionTags, 'again');
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return found(`${ready?.status} ${ready?.reason} ${status?.stableRevision}`, 'False RolledBack v2');
  });
  await rollout.ask('retry', 'again');
  await rollout.reach('rolled back a second time', ({ phase, action, message }) => {
    return phase === 'RolledBack' && action?.nonce === 'again' && message.includes('failing');
  });
  await rollout.holds('the retry is rolled back, too', async () => found(await rollout.path(), before));
  await rollout.checkAll('every new pod comes from the stable revision', 'v2');
  await rollout.holds('every workload becomes healthy again', async () => (await rollout.workloads.ready()).size === 4);
  return [rollout];
};

/** Shadow steps affect no pod: one finds a broken template, one reports what a good one changes. */
const shadow: Case = async (context, audit) => {
  const { client } = context;
  const rollout = await SmallRollout.open(context, audit, { tag: 'shaded', count: 6 });
  const steps = [{ weight: 0, shadow: true, pause: 'UntilResumed' }, { weight: 100 }];
  const strategy = { canary: { steps, analysis: { minimumPods: 5, minReadySeconds: 1 } } };
  const before = await rollout.path();
  await applyObject(client, revisionTag('shaded', 'broken', { strategy }));
  const broken = await rollout.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await rollout.holds('the shadow step detects a failing template, and the status contains its error', () =>
    /^revision broken was rolled back to v1 at step 1 \(0 percent\): the canary failed for .*this canary is broken/s.test(
      broken.message,
    ),
  );
  await rollout.holds('the path of the webhook names only stable again', async () =>
    found(await rollout.path(), before),
  );
  await applyObject(client, revisionTag('shaded', 'v3', { strategy }));
  const good = await rollout.reach('paused after the comparison', ({ phase, shadow }) => phase === 'Paused' && shadow);
  await rollout.holds('the status lists the fields that a working canary would change', () => {
    const { compared = 0, failed, changed = [] } = good.shadowReport ?? {};
    return compared >= 5 && failed === 0 && changed.includes('spec.containers[marked].image');
  });
  await rollout.holds('the status does not list the records of the injection, which always differ', () => {
    return found((good.shadowReport?.changed ?? []).filter((field) => field.includes('status')).join(), '');
  });
  await applyObject(client, revisionTag('shaded', 'v3', { strategy: { ...strategy, restart: {} } }));
  await rollout.holds(
    'if the operator may not restart workloads, the status names the flag and the chart value that allow restarts',
    async () => {
      const { phase, message } = await restartsOf(context, 'shaded');
      return phase === 'NotAllowed' && /--restart-workloads.*operator\.restartWorkloads/s.test(message);
    },
  );
  await rollout.renewed();
  await rollout.holds('no pod comes from a canary', () =>
    found([...new Set(rollout.workloads.pods.seen.map(({ maker }) => maker))].join(), 'v1'),
  );
  return [rollout];
};

/** One workload fails under every revision; at 100 percent, no stable pod remains to compare. */
const failingAnyway: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'partly', count: 4 });
  const { workloads } = rollout;
  // The operator compares the canary with the pods at the start of the rollout, so stop the churn.
  await workloads.close();
  const failing = rollout.nameBeside(rollout.ranked()[2] ?? '', 'after');
  await workloads.add(failing, { annotations: { 'e2e.sidecar-injector.io/outcome': 'crash' } });
  await rollout.edit('v1', [50, 100], 'UntilResumed');
  await rollout.seen('a stable pod fails', ({ pods }) => pods.stable.failing === 1 && pods.stable.total === 5);
  await rollout.edit('v2', [50, 100], 'UntilResumed');
  const makers = await rollout.pausedAt(50, 'v2');
  await rollout.check('3 of 5 workloads get the canary at 50 percent', makers, rollout.share(50));
  // At 100 percent, the test first recreates the pods of all other workloads, not the failing pod.
  await rollout.seen('3 canary pods are ready', ({ pods }) => pods.canary.ready === 3 && pods.canary.total === 3);
  await rollout.ask('resume', 'on');
  // The failing workload gets the canary last, so that few of the canary pods fail.
  const others = workloads.names.filter((name) => name !== failing);
  await rollout.reach('paused at 100 percent', ({ phase, weight }) => phase === 'Paused' && weight === 100, others);
  await rollout.holds('at 100 percent, the other workloads get the canary', async () => {
    const made = await workloads.renew(others);
    return others.every((name) => [...(made.get(name) ?? [])].join() === 'v2');
  });
  // Starting pods do not count, so without this wait, half of all counted pods could fail.
  await rollout.seen('4 canary pods are ready', ({ pods }) => pods.canary.ready === 4 && pods.canary.total === 4);
  await workloads.renew([failing]);
  await rollout.seen(
    'one of 5 pods fails under the canary',
    ({ pods }) => pods.canary.failing === 1 && pods.canary.total === 5,
  );
  await rollout.ask('resume', 'to-the-end');
  await rollout.promotes('after the promotion, all workloads get the canary, although one workload fails');
  return [rollout];
};

/** Canary pods from before the rollout are no evidence; after a rollback, they are counted. */
const canaryBefore: Case = async (context, audit) => {
  const rollout = await SmallRollout.open(context, audit, { tag: 'kept', count: 4 });
  const { workloads } = rollout;
  await workloads.close();
  await applyTagUntilReady(context.client, revisionTag('kept', 'v2'));
  await untilActive(context.client);
  const share = [...rollout.share(50)];
  await workloads.renew(share);
  await rollout.edit('v1', [50, 100]);
  const isWaiting = ({ phase, canary, pods }: RolloutState): boolean =>
    phase === 'WaitingForPods' && canary?.revision === 'v1' && pods.canary.ready === 2;
  await rollout.seen('2 pods outside the share have the canary since before the rollout', isWaiting);
  await sleep(4000);
  await rollout.seen('these pods do not end the step', isWaiting);
  await rollout.reach('paused at 50 percent', ({ phase }) => phase === 'Paused', share);
  await rollout.ask('abort', 'now');
  await rollout.reach('rolled back', ({ phase }) => phase === 'RolledBack');
  await rollout.seen('after the rollback, the status counts the 4 pods of the canary that are left', ({ pods }) => {
    return pods.canary.ready === 4 && pods.canary.total === 4;
  });
  await rollout.checkAll('after the rollback, all workloads get stable', 'v2');
  await rollout.seen('no pod of the canary is left', ({ pods }) => pods.canary.total === 0);
  return [rollout];
};

/** A template that fails in every namespace except `default`. */
const failingElsewhere =
  '{{ if ne .ObjectMeta.Namespace "default" }}{{ fail "this canary is broken" }}{{ end }}metadata: {labels: {a: b}}';

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
  canaryBefore,
  shadow,
];

export const canaryCases: Scenario = {
  name: 'canary-cases',
  about:
    'shares are exact and no pod is lost in rollouts with 1, 2 and 7 workloads, with changing workloads, with two tags, with edits and reverts of the spec, with pods that crash, and with shadow steps',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    await context.startReplicas({ webhooks: 2, controllers: 1, flags: ['--drain-seconds=2'] });
    await applyMarked(client, { v1: 'one', v2: 'two', v3: 'three' });
    await applyUntilReady(client, markedConfig('bad', 'four', {}, 'crash'));
    const broken = markedConfig('broken', 'five');
    broken.spec.injection['templates'] = { sidecar: failingElsewhere };
    await applyUntilReady(client, broken);
    const audit = context.requireAudit();
    const running = cases.map(async (each) => each(context, audit));
    const rollouts = (await sideBySide(context, running)).flat();
    await Promise.all(rollouts.map(({ workloads }) => workloads.close()));
    const counts = rollouts.map(({ workloads }) => workloads.pods.lost());
    const created = await checkNoneLost(context, counts);
    context.measured({ tags: rollouts.length, created, lost: 0 });
    return `${rollouts.length} tags rolled out at the same time, all shares exact; ${created} pods created, 0 lost`;
  },
};
