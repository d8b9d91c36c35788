import assert from 'node:assert/strict';
import type { RolloutPodCounts } from '../../api/revision-tag/revision-tag.ts';
import { template } from '../testdata/operator-fixture.ts';
import { RolloutFixture, tag } from './testdata/rollout-fixture.ts';
import { countFailures } from './rollouts.ts';

describe('A tag with a canary strategy', () => {
  const fixture = new RolloutFixture();
  beforeEach(() => fixture.begin(10));
  afterEach(() => fixture.stop());

  const writesSince = (since: number): string[] =>
    fixture.cluster.writes
      .slice(since)
      .filter((write) => /revisiontags|mutatingwebhook/.test(write) && !write.includes('probe'));
  /** Starts a new leader, which lists the pods. */
  const takeOver = async (): Promise<void> => {
    await fixture.takeOver();
    fixture.follow();
  };

  /** Starts a new leader in step 1 of 2 while two workloads have no pods. Returns these two. */
  const takeOverWithoutTwo = async (): Promise<string[]> => {
    await fixture.canary('new', [20, 50]);
    await fixture.pass();
    const away = fixture.above(fixture.threshold).slice(0, 2);
    for (const name of away) fixture.down(name);
    await takeOver();
    fixture.roll();
    return away;
  };

  it('moves in growing steps to promotion, with one webhook update per step', async () => {
    await fixture.canary('new', [20, 50, 100]);
    const shares: number[] = [];
    let last = '';
    const before = fixture.cluster.writes.length;
    await fixture.pass();
    for (let turn = 0; turn < 40 && fixture.rollout?.phase !== 'Promoted'; turn += 1) {
      const { threshold } = fixture;
      if (threshold !== last) shares.push(fixture.below(threshold).length);
      assert.ok(threshold >= last, `${threshold} is below ${last}`);
      last = threshold;
      fixture.roll();
      await fixture.pass(1000);
    }
    assert.deepEqual(shares, [2, 5, 10]);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('new'));
    assert.equal(fixture.tagStatus(tag).stableRevision, 'new');
    assert.match(fixture.tagCondition(tag, 'Ready'), /^True\/Published/);
    const moves = writesSince(before).filter((write) => write.includes('mutating'));
    assert.equal(moves.length, 3, moves.join('\n'));
    await fixture.recorded(/^Promoted: revision new is stable now, in place of old/);
  });

  it('starts from the live revision when one edit sets strategy and revision, and reports each step', async () => {
    const before = fixture.cluster.writes.length;
    await fixture.canary('new', [20]);
    const path = new RegExp(`^/tags/prod/old/${fixture.hash('old')}/new/${fixture.hash('new')}/[0-9a-f]{16}/inject$`);
    assert.match(fixture.tagPath(tag) ?? '', path);
    const writes = writesSince(before);
    const [state = '', move = ''] = writes.filter((write) => !write.includes('POST'));
    assert.match(state, /revisiontags/, 'the state is written first');
    assert.match(move, /mutatingwebhookconfigurations/);
    await fixture.pass();
    assert.match(fixture.tagCondition(tag, 'RolloutComplete'), /^False\/WaitingForPods: step 1/);
    assert.match(fixture.tagCondition(tag, 'Ready'), /^False\/WaitingForPods: .*; the tag points to revision old$/);
    await fixture.recorded(/^RolloutStarted: /);
  });

  it('writes nothing while nothing changes', async () => {
    await fixture.canary('new', [20]);
    await fixture.pass();
    await fixture.pass(6000);
    await fixture.recorded(/^StepStarted: /);
    const before = fixture.cluster.writes.length;
    for (let turn = 0; turn < 3; turn += 1) await fixture.pass();
    assert.deepEqual(writesSince(before), []);
  });

  it('rolls back when canary pods fail, and reports why', async () => {
    await fixture.canary('new', [20]);
    await fixture.passUntil('RolledBack', 'crash');
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    assert.equal(fixture.rollout?.reason, 'PodsFailing');
    const rolledBack = /^False\/RolledBack: revision new was rolled back to old at step 1/;
    assert.match(fixture.tagCondition(tag, 'Ready'), rolledBack);
    await fixture.recorded(/^RolledBack: /);
    await fixture.pass(6000);
    const left = (): RolloutPodCounts | undefined => fixture.rollout?.pods.canary;
    assert.ok((left()?.total ?? 0) > 0, 'failing pods of the canary are left, and count');
    assert.equal(left()?.failing, left()?.total);
    fixture.roll();
    await fixture.pass(6000);
    assert.equal(left()?.total, 0, 'until they are recreated');
    await takeOver();
    await fixture.pass();
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'), 'stays on stable under the next leader');
  });

  it('rolls back when canary injections fail, not counting earlier failures', async () => {
    fixture.reports.shadow = { ...fixture.reports.shadow, failed: 7 };
    await fixture.canary('new', [20], { maximumInjectionErrors: 1 });
    await fixture.pass();
    fixture.reports.shadow = { ...fixture.reports.shadow, failed: 8 };
    await fixture.pass();
    assert.equal(fixture.rollout?.canary?.injectorConfig, 'new');
    fixture.reports.shadow = { ...fixture.reports.shadow, failed: 9 };
    await fixture.pass();
    assert.equal(fixture.rollout.reason, 'InjectionErrors');
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
  });

  /** Makes the next write of the tag's webhook fail. */
  const failNextMove = (): void => {
    const isMove = (method: string, path: string) => method === 'PATCH' && path.includes('sidecar-injector-tag-prod');
    fixture.cluster.fail(isMove, 503, 'ServiceUnavailable', 'not now', 1);
  };

  for (const [phase, outcome, target] of [
    ['Promoted', 'ready', 'new'],
    ['RolledBack', 'crash', 'old'],
  ] as const) {
    it(`is ${phase} by the next leader if the first leader stops before it writes the path`, async () => {
      await fixture.canary('new', [100]);
      failNextMove();
      await assert.rejects(fixture.passUntil(phase, outcome));
      assert.equal(fixture.rollout?.phase, phase);
      assert.notEqual(fixture.threshold, '');
      await takeOver();
      await fixture.pass();
      assert.equal(fixture.tagPath(tag), fixture.restingPath(target));
      assert.equal(fixture.rollout.phase, phase);
    });
  }

  it('counts a workload that has no pods when a rollout begins', async () => {
    await fixture.pass();
    fixture.down('work-3');
    await fixture.clock.advance(59_000);
    await fixture.canary('new', [50]);
    assert.equal(fixture.rollout?.knownWorkloads, 10);
    assert.equal(fixture.rollout.canaryWorkloads, 5);
  });

  it('counts no workload whose namespace is being deleted, with or without pods', async () => {
    await fixture.clock.advance(61_000);
    await fixture.canary('old', [50]);
    assert.equal(fixture.rollout?.knownWorkloads, 10);
    fixture.leave();
    fixture.down('work-3');
    await fixture.canary('new', [50]);
    assert.equal(fixture.rollout.knownWorkloads, 0);
    assert.deepEqual(fixture.rollout.pods.stable, { ready: 0, failing: 0, total: 0 });
  });

  it('waits, under a new leader, for known workloads that have no pods yet', async () => {
    const away = await takeOverWithoutTwo();
    await fixture.pass();
    await fixture.pass();
    assert.equal(fixture.rollout?.reason, 'CountingWorkloads');
    const measured = /^False\/Progressing: 50 percent is measured when 10 workloads/;
    assert.match(fixture.tagCondition(tag, 'RolloutComplete'), measured);
    assert.equal(fixture.rollout.canaryWorkloads, 2);
    fixture.roll('ready', away);
    await fixture.pass();
    assert.equal(fixture.rollout.canaryWorkloads, 5);
  });

  it('continues with the present workloads after waiting a minute', async () => {
    await takeOverWithoutTwo();
    for (let seconds = 0; seconds < 59; seconds += 1) {
      await fixture.pass(900);
    }
    assert.equal(fixture.rollout?.reason, 'CountingWorkloads');
    await fixture.pass(2000);
    assert.deepEqual([fixture.rollout.knownWorkloads, fixture.rollout.canaryWorkloads], [8, 4]);
  });

  it('keeps the threshold of the live path when the status is lost', async () => {
    await fixture.canary('new', [20, 50, 100], { minReadySeconds: 30 });
    await fixture.pass();
    fixture.roll();
    await fixture.pass(31_000);
    const { threshold } = fixture;
    assert.equal(fixture.below(threshold).length, 5);
    fixture.cluster.edit('revisiontags', tag, undefined, (object) => {
      delete object.status;
    });
    await takeOver();
    await fixture.pass();
    assert.equal(fixture.threshold, threshold);
    assert.equal(fixture.rollout?.stable.revision, 'old');
  });

  it('follows new configurations of stable and canary, and keeps those that the path names', async () => {
    await fixture.canary('new', [20], { minReadySeconds: 600 });
    const { threshold } = fixture;
    await fixture.render('old', template('old-two'));
    await fixture.pass();
    const [, , , , old, , canary] = (fixture.tagPath(tag) ?? '').split('/');
    assert.deepEqual([old, canary, fixture.threshold], [fixture.hash('old'), fixture.hash('new'), threshold]);
    const first = fixture.hash('new');
    for (const image of ['b', 'c', 'd', 'e', 'f']) {
      await fixture.render('new', template(image));
    }
    assert.ok(fixture.cluster.names('configmaps').includes(`sidecar-injector-new-${first}`), 'pods still use it');
    await fixture.pass();
    assert.match(fixture.tagPath(tag) ?? '', new RegExp(`/new/${fixture.hash('new')}/[0-9a-f]{16}/inject$`));
    assert.equal(fixture.rollout?.canary?.hash, fixture.hash('new'));
  });

  it('waits until every replica serves the canary and the pods have been listed', async () => {
    fixture.reports.missing = ['replica-2'];
    await fixture.canary('new', [20]);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    assert.match(fixture.tagCondition(tag, 'RevisionReady'), /^False\/RevisionNotReady: .*not served yet by replica-2/);
    fixture.reports.missing = [];
    fixture.restart();
    await fixture.reconcile('old');
    await fixture.reconcile('new');
    assert.ok((await fixture.pass()) <= 1000);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    fixture.follow();
    await fixture.pass();
    assert.notEqual(fixture.threshold, '');
  });

  it('stays at stable if pods are not followed, and reports that', async () => {
    fixture.restart({ followPods: false });
    await fixture.reconcile('old');
    await fixture.reconcile('new');
    await fixture.canary('new', [20]);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    assert.match(fixture.tagCondition(tag, 'RevisionReady'), /^False\/PodsNotFollowed: /);
  });

  it('reports why there is no webhook when the revision is ready but stable is paused', async () => {
    await fixture.canary('new', [50]);
    await fixture.edit('old', { paused: true });
    await fixture.pass();
    const why = /^False\/NotPublished: InjectorConfig old, to which the tag points, is paused .*; there is no webhook/;
    assert.match(fixture.tagCondition(tag, 'Ready'), why);
    assert.equal(fixture.tagCondition(tag, 'RolloutComplete'), 'False/NotPublished: the tag has no webhook');
  });

  const removeWebhook = (): void => {
    fixture.cluster.remove('mutatingwebhookconfigurations', `sidecar-injector-tag-${tag}`);
  };
  const takeOverWithoutWebhook = (): Promise<void> => {
    removeWebhook();
    return fixture.takeOver();
  };
  const killed = 'the kill switch has removed the canary and the webhook';
  for (const [who, why, change] of [
    ['the leader', 'the canary is paused', () => undefined],
    ['the leader', killed, removeWebhook],
    ['the next leader', killed, takeOverWithoutWebhook],
  ] as const) {
    it(`returns to stable, through ${who}, when ${why}`, async () => {
      await fixture.canary('new', [50]);
      fixture.setSpec('new', { paused: true });
      await change();
      await fixture.reconcile('new');
      await fixture.pass();
      assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
      assert.equal(fixture.rollout?.reason, 'CanaryUnavailable');
      assert.match(fixture.rollout.message, /spec\.paused/);
    });
  }

  it('keeps serving a deleted canary until its workloads are back on stable', async () => {
    await fixture.canary('new', [50]);
    const stored = `sidecar-injector-new-${fixture.hash('new')}`;
    fixture.cluster.remove('injectorconfigs', 'new');
    const remove = async (): Promise<void> => {
      for (let pass = 0; pass < 4; pass += 1) {
        await fixture.reconcile('new');
        await fixture.clock.advance(2000);
      }
    };
    await remove();
    assert.ok(fixture.cluster.names('configmaps').includes(stored));
    await fixture.pass();
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    await remove();
    assert.ok(!fixture.cluster.names('configmaps').includes(stored));
  });

  it('returns to stable immediately when the spec names it, and moves immediately without a strategy', async () => {
    await fixture.canary('new', [50]);
    await fixture.canary('old', [50]);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    assert.match(fixture.tagCondition(tag, 'Ready'), /^True\/Published: pods get revision old/);
    await fixture.canary('new', [50]);
    assert.notEqual(fixture.threshold, '');
    await fixture.strategy('new', undefined);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('new'));
    assert.equal(fixture.rollout, undefined);
    assert.equal(fixture.tagCondition(tag, 'RolloutComplete'), 'none');
  });

  it('needs no new reachability check for a step, even with spec.webhook.url', async () => {
    for (const name of ['old', 'new']) {
      fixture.setSpec(name, { webhook: { url: `https://${name}.example.com/x` } });
      await fixture.reconcile(name);
    }
    await fixture.pass();
    const before = fixture.cluster.writes.length;
    await fixture.canary('new', [20]);
    const [webhook] = fixture.tagObject(tag)?.webhooks as { clientConfig: { url: string } }[];
    assert.match(webhook?.clientConfig.url ?? '', /^https:.*\/x\/tags\/prod\/old\/.*\/new\/.*\/inject$/);
    const tried = fixture.cluster.writes.slice(before).filter((write) => write.includes('probe'));
    assert.deepEqual(tried, []);
  });

  it('carries out a requested action immediately, and answers it in the status', async () => {
    await fixture.canary('new', [20, 100], { minReadySeconds: 600 });
    fixture.cluster.edit('revisiontags', tag, undefined, (object) => {
      object.metadata.annotations = { 'sidecar-injector.io/action': 'promote:now' };
    });
    await fixture.pass();
    assert.equal(fixture.tagPath(tag), fixture.restingPath('new'));
    const { verb, nonce, state } = fixture.rollout?.action ?? {};
    assert.deepEqual([verb, nonce, state], ['promote', 'now', 'Done']);
  });
});

describe('countFailures', () => {
  const first = { startedAt: '2026-06-01T00:00:00Z', injectionErrors: 0 };
  type Reports = readonly (readonly [state: typeof first | undefined, reported: number])[];
  const counted = (reports: Reports): number[] => {
    let known: ReturnType<typeof countFailures> | undefined;
    return reports.map(([state, reported]) => (known = countFailures(known, state, reported)).failed);
  };
  const second = { ...first, startedAt: '2026-06-02T00:00:00Z' };
  const rows: [what: string, reports: Reports, counts: number[]][] = [
    ['counts increases of the sum', [7, 7, 9, 10].map((sum) => [first, sum]), [0, 0, 2, 3]],
    ['ignores a decrease of the sum when a replica terminates', [5, 8, 2, 4].map((sum) => [first, sum]), [0, 3, 3, 5]],
    [
      'starts at 0 for each rollout',
      [
        [undefined, 4],
        [first, 6],
        [first, 7],
        [second, 9],
      ],
      [0, 0, 1, 0],
    ],
    ['continues from the status in a new process', [[{ ...first, injectionErrors: 3 }, 9]], [3]],
  ];
  for (const [what, reports, counts] of rows) {
    it(what, () => {
      assert.deepEqual(counted(reports), counts);
    });
  }
});
