import assert from 'node:assert/strict';
import { parseRolloutAction, rolloutActionAnnotation, rolloutVerbs } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutState, RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { asSoonAs, sees, type Seen, type Surroundings } from '../testdata/recording-terminal.ts';
import { attemptOf } from '../../rollout/actions.ts';
import { promote } from '../../rollout/transitions.ts';
import type { RolloutUnderWay } from '../rollout/rollout-standing.ts';
import type { Screen } from '../terminal.ts';
import { refusal, RevisionCluster } from '../testdata/revision-cluster.ts';
import { paused, promoted, rolledBack, rolloutState, rolloutTag, strategy } from '../testdata/rollout-tag.ts';

describe('injector tag, with a rollout', () => {
  let cluster: RevisionCluster;
  beforeEach(async () => {
    cluster = new RevisionCluster();
    await cluster.start();
    cluster.addRevision('1-24');
    cluster.addRevision('1-25');
    cluster.addRevision('1-26');
  });
  afterEach(() => cluster.stop());

  const put = (rollout: RolloutState | undefined, more: Parameters<typeof rolloutTag>[1] = {}): void => {
    cluster.memory.put('revisiontags', rolloutTag(rollout, more));
    cluster.memory.writes.length = 0;
  };
  const prod = (): RevisionTag => cluster.memory.get('revisiontags', 'prod') as RevisionTag;
  const tag = (argv: string, surroundings?: Surroundings): Promise<Seen> =>
    cluster.injector(['tag', ...argv.split(' ')], undefined, surroundings);
  /** Writes a state as the operator does. */
  const write = (state: RolloutState): void => {
    cluster.memory.edit('revisiontags', 'prod', undefined, (object) => {
      object.status = { ...rolloutTag(state).status, observedGeneration: object.metadata.generation };
    });
  };
  const answer = (state: 'Done' | 'Refused', message: string) => {
    const timer = setInterval(() => {
      const { metadata, status } = prod();
      const value = metadata.annotations?.[rolloutActionAnnotation];
      if (value === undefined || status?.rollout === undefined) return;
      clearInterval(timer);
      write({ ...status.rollout, action: { ...parseRolloutAction(value), state, message } });
    }, 20);
    return timer;
  };

  describe('promote, abort, resume, retry', () => {
    const watching = { ...paused, phase: 'Progressing', reason: 'WatchingPods' } as const;
    for (const verb of rolloutVerbs) {
      it(`${verb} requests the action by one write with a new nonce, and prints the answer`, async () => {
        const state = { promote: paused, abort: paused, pause: watching, resume: paused, retry: rolledBack }[verb];
        put({ ...state, action: { verb, nonce: 'old', state: 'Done', message: 'an earlier answer' } });
        answer('Done', 'done');
        const { out, code } = await tag(`${verb} prod`);
        assert.deepEqual([out, code], ['RevisionTag prod: done\n', 0]);
        assert.deepEqual(cluster.changes, ['PATCH revisiontags prod']);
        const asked = parseRolloutAction(prod().metadata.annotations?.[rolloutActionAnnotation] ?? '');
        assert.equal(asked.verb, verb);
        assert.match(asked.nonce, /^[0-9a-f-]{36}$/);
      });
    }

    it('fails with the refusal of the operator', async () => {
      put(paused);
      answer('Refused', 'promote: no');
      const { errors, code } = await tag('promote prod --full');
      assert.deepEqual([errors, code], ['error: RevisionTag prod: promote: promote: no', 1]);
    });

    it('reports that no operator answers, and that the request remains', async () => {
      put(paused);
      sees(await tag('abort prod --timeout 0.3'), 1, {
        errors:
          /prod: abort: no operator has answered in time \(Paused: .*operatorClass default is running\. The request remains/,
      });
    });

    it('does not wait with --timeout 0', async () => {
      put(paused);
      assert.equal((await tag('abort prod --timeout 0')).out, 'RevisionTag prod: requested abort\n');
    });

    it('retries when the operator writes the status at the same time', async () => {
      put(paused);
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags/prod', 409, 'modified', 2));
      assert.equal((await tag('abort prod --timeout 0')).code, 0);
    });

    it('sends the request if the operator has not reconciled the spec', async () => {
      put(rolledBack, { metadata: { generation: 2 } });
      assert.equal((await tag('abort prod --timeout 0')).code, 0);
      sees(await tag('promote prod --timeout 0'), 2, { errors: /rolled back .* 9 of 53 [^]*use -y or --yes to agree/ });
    });

    const asked = (): string | undefined => prod().metadata.annotations?.[rolloutActionAnnotation]?.split(':')[0];

    it('promote --full prints no notice, and promote --step only ends the pause', async () => {
      for (const [flags, verb] of [
        ['--full', 'promote'],
        ['--step', 'resume'],
      ] as const) {
        put(paused);
        const { out, errors } = await tag(`promote prod ${flags} --timeout 0`);
        assert.deepEqual([out, errors, asked()], [`RevisionTag prod: requested ${verb}\n`, '', verb]);
      }
      assert.equal((await tag('promote prod --full --step')).code, 2);
    });

    const { canary = { revision: '', hash: '' } } = paused;
    const again = { verb: 'retry', nonce: 'x', state: 'Done', message: `${attemptOf(canary)}: step 1` } as const;
    const retried = { action: again };
    const other = { action: { ...again, message: `${attemptOf({ ...canary, hash: 'other' })}: step 1` } };
    const back = { ...rolledBack, pods: { ...paused.pods, canary: { ready: 44, failing: 9, total: 53 } } };
    const isBack =
      /rolled back to 1-24 at step 2 \(25 percent\): 9 of .*\n.*canary 44 of 53 pods ready, 9 failing, stable/;
    const isAgain = /rolled back before this attempt; .*\n.*, step 2 of 4, 25 % = 53 of 212 workloads, canary 50 of 53/;
    const notice = /^promote completes the rollout, as promote --full does; in the next release, .* \(--step\)$/;
    const promotions: [string, RolloutState, string, string | undefined, number, string, RegExp][] = [
      ['needs --yes without a terminal', back, '', undefined, 2, '', /: use -y or --yes to agree; nothing/],
      ['asks about a rolled-back canary', back, '', 'n', 1, '', isBack],
      ['starts again after yes', back, '', 'y', 0, 'retry promote', isBack],
      ['starts again with --yes', back, '--yes', undefined, 0, 'retry promote', isBack],
      ['refuses a retried canary', { ...watching, ...retried }, '', undefined, 2, '', isAgain],
      ['asks while earlier pods fail', { ...watching, reason: 'EarlierPodsFailing' }, '', 'y', 0, 'promote', isAgain],
      ['takes a retried canary with evidence', { ...paused, ...retried }, '', undefined, 0, 'promote', notice],
      ['takes a later canary', { ...watching, ...other }, '--full', undefined, 0, 'promote', /^$/],
      ['takes any other canary', watching, '--full', undefined, 0, 'promote', /^$/],
    ];
    for (const [title, state, flags, said, code, requests, shown] of promotions) {
      it(`promote ${title}`, async () => {
        put(state);
        const verbs: string[] = [];
        const timer = setInterval(() => {
          const value = prod().metadata.annotations?.[rolloutActionAnnotation] ?? 'abort:x';
          const action = { ...parseRolloutAction(value), state: 'Done', message: 'done' } as const;
          if (['x', prod().status?.rollout?.action?.nonce].includes(action.nonce)) return;
          verbs.push(action.verb);
          write({ ...(action.verb === 'retry' ? watching : promoted), action });
        }, 10);
        const seen = await cluster.injector(`tag promote prod ${flags}`.trim().split(' '), said);
        clearInterval(timer);
        assert.deepEqual([seen.code, verbs.join(' ')], [code, requests]);
        assert.match(seen.errors, shown);
        assert.equal(seen.questions.length, said === undefined && code === 0 ? 0 : 1);
      });
    }

    const refusals: [string, string, RolloutState | undefined, RegExp][] = [
      ['an unknown tag', 'promote prd', paused, /there is no tag prd; existing names: prod; did you mean prod\?/],
      ['promote without a rollout', 'promote prod', rolloutState(), /no rollout is under way; nothing was changed/],
      ['abort without a rollout', 'abort prod', promoted, /no rollout is under way; nothing was changed/],
      ['promote without a status', 'promote prod', undefined, /no rollout is under way/],
      ['abort after a rollback', 'abort prod', rolledBack, /under way: .*9 of 53.*`injector tag retry prod`/],
      ['pause during a pause', 'pause prod', paused, /step 2 is already paused: step 2 .* until a user resumes it; n/],
      ['resume without a pause', 'resume prod', { ...paused, pausedAt: undefined as never }, /step 2 is not paused: s/],
      ['resume after a resume', 'resume prod', { ...paused, resumed: true }, /the pause of step 2 has already ended/],
      ['retry during a rollout', 'retry prod', paused, /revision 1-25 is under way, nothing was rolled back/],
      [
        'retry without a rollback',
        'retry prod',
        promoted,
        /nothing was rolled back; a rollout begins when spec\.revision changes/,
      ],
    ];
    for (const [title, argv, state, message] of refusals) {
      it(`refuses ${title}, and writes nothing`, async () => {
        put(state && (JSON.parse(JSON.stringify(state)) as RolloutState));
        const { errors, out, code } = await tag(argv);
        assert.match(errors, message);
        assert.deepEqual([out, code, cluster.changes], ['', title === 'an unknown tag' ? 2 : 1, []]);
      });
    }

    it('refuses every action for a tag without steps', async () => {
      put(rolledBack, { isAtOnce: true });
      const { errors } = await tag('retry prod');
      assert.match(errors, /no canary strategy \(spec\.strategy\.canary\): there is nothing to retry/);
    });
  });

  describe('watch', () => {
    /** Runs the command on a paused rollout while the operator writes one state after the other. */
    const watched = (later: readonly RolloutState[], flags = '', screen?: Screen): Promise<Seen> => {
      put(paused);
      let lines = 0;
      const onOut = (): void => {
        const next = later[lines++];
        if (next !== undefined) write(next);
      };
      return tag(`watch prod${flags}`, { onOut, ...(screen && { screen }) });
    };

    it('prints each change in a line, and exits with 0 after the promotion', async () => {
      const { out, code } = await watched([{ ...paused, message: 'news' }, promoted]);
      const [first, second, third, ...rest] = out.split('\n').map((line) => line.replace(/^\S+Z /, ''));
      assert.match(first ?? '', /^Paused, step 2 of 4, 25 % = 53 of 212 workloads, .*: step 2 .* paused/);
      assert.match(second ?? '', /: news$/);
      assert.match(third ?? '', /^Promoted: revision 1-25 is stable now/);
      assert.deepEqual([rest, code], [[''], 0]);
    });

    it('exits with 3 after the rollback', async () => {
      sees(await watched([rolledBack]), 3, { out: /RolledBack: revision 1-25 was rolled back to 1-24 .*\n$/ });
    });

    it('prints JSON lines', async () => {
      const { out } = await watched([promoted], ' -o json');
      const records = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.equal(records.length, 2);
      const { time, ready, steps, ...first } = records[0] ?? {};
      assert.deepEqual(first, { tag: 'prod', revision: '1-25', stableRevision: '1-24', rollout: paused });
      for (const field of [time, ready, steps]) assert.ok(field);
    });

    it('redraws the screen on a terminal', async () => {
      const { out, code } = await watched([promoted], '', { columns: 80, rows: 24 });
      const [first = '', ...others] = out.split('\u001B[12A\r\u001B[J');
      assert.equal(first.split('\n').length, 13);
      assert.ok(!first.includes('\u001B'), 'no colours');
      assert.match(first, /^RevisionTag prod: revision 1-24 -> 1-25: Paused/);
      assert.match(others.at(-1) ?? '', /^RevisionTag prod: revision 1-25: Promoted\n/);
      assert.equal(code, 0);
    });

    it('exits with 0 when the user interrupts the command', async () => {
      put(paused);
      const { code } = await tag('watch prod', {
        onOut: (_, interrupt) => {
          interrupt();
        },
      });
      assert.equal(code, 0);
    });

    it('survives a restart of the API server', async () => {
      put(paused);
      const { errors, code } = await tag('watch prod', {
        onOut: () => {
          cluster.memory.faults.push(refusal('GET', 'revisiontags/prod', 503, 'starting', 2));
          write(promoted);
        },
      });
      assert.equal(errors.match(/does not answer/g)?.length, 1);
      assert.equal(code, 0);
    });

    it('reports a deleted tag', async () => {
      put(paused);
      const { errors, code } = await tag('watch prod', {
        onOut: () => {
          cluster.memory.remove('revisiontags', 'prod');
        },
      });
      assert.deepEqual(
        [errors, code],
        ['error: RevisionTag prod: it was deleted; `injector tag set` creates it again', 1],
      );
    });

    it('refuses a tag without steps, and an unknown tag', async () => {
      put(undefined, { isAtOnce: true });
      assert.match((await tag('watch prod')).errors, /moves immediately, .*`injector tag list` shows its revision/);
      assert.match((await tag('watch x')).errors, /there is no tag x; existing names: prod/);
    });
  });

  describe('set', () => {
    it('keeps the strategy, announces the rollout, and waits until it is under way', async () => {
      put(promoted);
      const { stable } = promoted;
      const isWritten = (): boolean => prod().spec.revision === '1-26';
      asSoonAs(isWritten, () => {
        const canary = { ...stable, revision: '1-26', injectorConfig: '1-26' };
        write({ ...paused, stable, canary });
      });
      const { out, code } = await tag('set prod -r 1-26 --overwrite --yes --timeout 20');
      const begins = 'a rollout from revision 1-25 to 1-26 begins, in 4 steps (spec.strategy.canary)';
      const shows = 'the rollout is under way\n`injector tag watch prod` shows its progress';
      assert.deepEqual([out, code], [`RevisionTag prod: ${begins}\n${shows}\n`, 0]);
      assert.equal(prod().spec.revision, '1-26');
      assert.equal(prod().spec.strategy?.canary?.steps.length, strategy.canary.steps.length);
    });

    it('reports that a rollout is not under way in time', async () => {
      put(promoted);
      sees(await tag('set prod -r 1-26 --overwrite -y --timeout 0.1'), 1, {
        errors: /not published after 0\.1 s; .*: NotLookedAt/,
      });
    });

    const cases: [string, RolloutState, string, RegExp][] = [
      ['another revision', paused, '1-26', /: the rollout to revision 1-25 ends; a rollout from .* to 1-26 begins/],
      ['the stable revision', paused, '1-24', /: the rollout to revision 1-25 ends; moved .* to revision 1-24/],
      ['the canary', paused, '1-25', /: the rollout to revision 1-25 is under way; `injector tag watch prod`/],
      [
        'a canary that was rolled back',
        rolledBack,
        '1-25',
        /^error: tag prod already names revision 1-25: .* was rolled back .*; use `injector tag retry prod`/,
      ],
      ['an unpublished revision', rolloutState(), '1-25', /: the spec already has .*, but pods get 1-24: Idle: p/],
      ['the promoted revision', promoted, '1-25', /: already points to revision 1-25/],
    ];
    for (const [title, state, revision, message] of cases) {
      it(`describes the rollout after a request for ${title}`, async () => {
        put(state);
        const { out, errors, code } = await tag(`set prod -r ${revision} --overwrite -y --timeout 0`);
        assert.match(errors + out, message);
        assert.equal(code, state === rolledBack && revision === '1-25' ? 1 : 0);
      });
    }

    for (const [answered, code, last] of [
      ['n', 1, 'nothing was changed'],
      ['y', 0, ''],
    ] as const) {
      it(`predicts the changes before a rollout, asks, and obeys the answer ${answered}`, async () => {
        put(promoted);
        const seen = await cluster.injector('tag set prod -r 1-26 --overwrite --timeout 0'.split(' '), answered);
        assert.match(seen.out, /^from the active configurations to revision 1-26: nothing\s+was compared/);
        assert.match(seen.out, /\n`injector diff --to 1-26 --tag prod -o yaml` shows this comparison in full\n/);
        const note = 'nothing was compared: of 0 workloads in the cluster, none is injected by tag prod';
        const errors = last === '' ? note : `${note}\n${last}`;
        assert.deepEqual([seen.questions, seen.code, seen.errors], [['Continue? [y/N] '], code, errors]);
        assert.equal(cluster.changes.length, code === 0 ? 1 : 0);
      });
    }

    it('asks although the changes cannot be predicted', async () => {
      put(promoted);
      cluster.memory.faults.push(refusal('GET', '/configmaps', 403));
      sees(await tag('set prod -r 1-26 --overwrite --timeout 0'), 2, {
        errors:
          /^cannot predict how pods change: .*ConfigMap .* cannot be read.*\n.*use -y or --yes to agree; nothing was changed/,
      });
    });

    it('moves immediately without a strategy', async () => {
      put(promoted, { isAtOnce: true });
      const { out } = await tag('set prod -r 1-26 --overwrite --timeout 0');
      assert.match(out, /^RevisionTag prod: moved from revision 1-25/);
    });
  });

  describe('undo', () => {
    const { state: promotedByUser } = promote(
      paused as RolloutUnderWay & { stepStartedAt: string },
      1,
      'a user requested it',
    );
    const cases: [string, RolloutState, RegExp, string][] = [
      [
        'during a rollout',
        paused,
        /the rollout to revision 1-25 ends; moved from revision 1-25 to revision 1-24\n/,
        '1-24',
      ],
      ['after a rollback', rolledBack, /moved from revision 1-25 to revision 1-24\n/, '1-24'],
      [
        'after a promotion',
        promotedByUser,
        /from revision 1-25 to 1-24 begins, in 4 steps[^]*its share still get revision 1-25; `injector tag promote prod --full` ends/,
        '1-24',
      ],
      [
        'if nothing records the revision before',
        rolloutState({ stable: promoted.stable }),
        /^error: tag prod: nothing records which .* before 1-25; `injector tag set prod --overwrite -r REVISION` sets one,/,
        '1-25',
      ],
    ];
    for (const [title, state, message, revision] of cases) {
      it(`${title} sets the revision ${revision}`, async () => {
        put(state);
        const { out, errors, code } = await tag('undo prod --yes --timeout 0');
        assert.match(errors + out, message);
        assert.deepEqual([prod().spec.revision, code], [revision, revision === '1-24' ? 0 : 1]);
      });
    }
  });

  it('list, status and revisions show the revisions, the phase and the share', async () => {
    put(paused);
    assert.match((await tag('list')).out, /prod +1-24 \(1-25: Paused 25 %\) +- +0 +False \(Paused\)/);
    assert.match((await cluster.injector(['revisions'])).out, /\n1-24 .* prod .*\n1-25 .* prod /);
    const [report] = JSON.parse((await tag('list -o json')).out) as Record<string, unknown>[];
    assert.deepEqual(report?.['rollout'], { phase: 'Paused', weight: 25, shadow: false, canaryRevision: '1-25' });
    put({ ...paused, phase: 'Shadowing', shadow: true, weight: 0 });
    assert.match((await tag('list')).out, /1-24 \(1-25: Shadowing\)/);
    put(rolledBack);
    assert.match((await tag('list')).out, /1-24 \(spec: 1-25\) .*False \(RolledBack\)/);
    assert.match((await cluster.injector(['status'])).out, /\nprod +1-24 \(spec: 1-25\) /);
    const { tags } = JSON.parse((await cluster.injector(['status', '-o', 'json'])).out) as { tags: object[] };
    assert.deepEqual(tags, [
      { name: 'prod', revision: '1-25', stableRevision: '1-24', current: 0, stale: 0, missing: 0 },
    ]);
  });
});
