import assert from 'node:assert/strict';
import { parseRolloutAction, rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutState, RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { asSoonAs, sees, type Seen, type Surroundings } from '../testdata/recording-terminal.ts';
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
  /** The operator writes a state. */
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
    for (const verb of ['promote', 'abort', 'resume', 'retry'] as const) {
      it(`${verb} asks by one write with a fresh nonce, and shows the answer`, async () => {
        const state = verb === 'retry' ? rolledBack : paused;
        put({ ...state, action: { verb, nonce: 'old', state: 'Done', message: 'the last time' } });
        answer('Done', 'it is done');
        const { out, code } = await tag(`${verb} prod`);
        assert.deepEqual([out, code], ['RevisionTag prod: it is done\n', 0]);
        assert.deepEqual(cluster.changes, ['PATCH revisiontags prod']);
        const asked = parseRolloutAction(prod().metadata.annotations?.[rolloutActionAnnotation] ?? '');
        assert.equal(asked.verb, verb);
        assert.match(asked.nonce, /^[0-9a-f-]{36}$/);
      });
    }

    it('fails with what the operator refuses', async () => {
      put(paused);
      answer('Refused', 'promote: no');
      const { errors, code } = await tag('promote prod');
      assert.deepEqual([errors, code], ['error: RevisionTag prod: promote: promote: no', 1]);
    });

    it('says that nobody answers, and that the request stays', async () => {
      put(paused);
      sees(await tag('abort prod --timeout 0.3'), 1, {
        errors:
          /prod: abort: no operator has answered in time \(Paused: .*operatorClass default running\? The request stays/,
      });
    });

    it('does not wait when told', async () => {
      put(paused);
      assert.equal((await tag('abort prod --timeout 0')).out, 'RevisionTag prod: asked for abort\n');
    });

    it('asks although the operator writes its status at the same moment', async () => {
      put(paused);
      cluster.memory.faults.push(refusal('PATCH', 'revisiontags/prod', 409, 'modified', 2));
      assert.equal((await tag('abort prod --timeout 0')).code, 0);
    });

    it('leaves it to the operator while that has not looked at the spec', async () => {
      put(rolledBack, { metadata: { generation: 2 } });
      assert.equal((await tag('promote prod --timeout 0')).code, 0);
    });

    const refusals: [string, string, RolloutState | undefined, RegExp][] = [
      ['an unknown tag', 'promote prd', paused, /there is no tag prd; there are: prod; prod was probably meant/],
      ['a promotion of nothing', 'promote prod', rolloutState(), /no rollout is under way; nothing was changed/],
      ['an end of nothing', 'abort prod', promoted, /no rollout is under way; nothing was changed/],
      ['a promotion before the operator knows of any', 'promote prod', undefined, /no rollout is under way/],
      ['promoting a rollback', 'promote prod', rolledBack, /under way: .*9 of 53.*`injector tag retry prod` begins/],
      ['ending no pause', 'resume prod', { ...paused, pausedAt: undefined as never }, /step 2 is not paused: step 2/],
      ['ending an old pause', 'resume prod', { ...paused, resumed: true }, /the pause of step 2 was ended already/],
      ['retrying what runs', 'retry prod', paused, /rollout to revision 1-25 is under way, nothing was rolled back/],
      [
        'another try of nothing',
        'retry prod',
        promoted,
        /nothing was rolled back; a rollout begins when spec\.revision changes/,
      ],
    ];
    for (const [what, argv, state, message] of refusals) {
      it(`refuses ${what}, and writes nothing`, async () => {
        put(state && (JSON.parse(JSON.stringify(state)) as RolloutState));
        const { errors, out, code } = await tag(argv);
        assert.match(errors, message);
        assert.deepEqual([out, code, cluster.changes], ['', what === 'an unknown tag' ? 2 : 1, []]);
      });
    }

    it('refuses anything for a tag that moves at once', async () => {
      put(rolledBack, { isAtOnce: true });
      const { errors } = await tag('retry prod');
      assert.match(errors, /no canary strategy \(spec\.strategy\.canary\): there is nothing to retry/);
    });
  });

  describe('watch', () => {
    /** What the command prints of a paused rollout, and how it ends, when the operator writes one state after the other. */
    const watched = (later: readonly RolloutState[], flags = '', screen?: Screen): Promise<Seen> => {
      put(paused);
      let lines = 0;
      const onOut = (): void => {
        const next = later[lines++];
        if (next !== undefined) write(next);
      };
      return tag(`watch prod${flags}`, { onOut, ...(screen && { screen }) });
    };

    it('tells each change in a line, and ends well with the promotion', async () => {
      const { out, code } = await watched([{ ...paused, message: 'news' }, promoted]);
      const [first, second, third, ...rest] = out.split('\n').map((line) => line.replace(/^\S+Z /, ''));
      assert.match(first ?? '', /^Paused, step 2 of 4, 25 % = 53 of 212 workloads, .*: step 2 .* paused/);
      assert.match(second ?? '', /: news$/);
      assert.match(third ?? '', /^Promoted: revision 1-25 is stable now/);
      assert.deepEqual([rest, code], [[''], 0]);
    });

    it('ends with exit status 3 with the rollback', async () => {
      sees(await watched([rolledBack]), 3, { out: /RolledBack: revision 1-25 was rolled back to 1-24 .*\n$/ });
    });

    it('tells programs in JSON lines', async () => {
      const { out } = await watched([promoted], ' -o json');
      const records = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.equal(records.length, 2);
      const { time, ready, steps, ...first } = records[0] ?? {};
      assert.deepEqual(first, { tag: 'prod', revision: '1-25', stableRevision: '1-24', rollout: paused });
      for (const told of [time, ready, steps]) assert.ok(told);
    });

    it('draws over itself on a terminal', async () => {
      const { out, code } = await watched([promoted], '', { columns: 80, rows: 24 });
      const [first = '', ...others] = out.split('\u001B[12A\r\u001B[J');
      assert.equal(first.split('\n').length, 13);
      assert.ok(!first.includes('\u001B'), 'no colours');
      assert.match(first, /^RevisionTag prod: revision 1-24 -> 1-25: Paused/);
      assert.match(others.at(-1) ?? '', /^RevisionTag prod: revision 1-25: Promoted\n/);
      assert.equal(code, 0);
    });

    it('ends well when it is interrupted', async () => {
      put(paused);
      const { code } = await tag('watch prod', {
        onOut: (_, interrupt) => {
          interrupt();
        },
      });
      assert.equal(code, 0);
    });

    it('outlives a restart of the API server', async () => {
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

    it('says that somebody has deleted the tag', async () => {
      put(paused);
      const { errors, code } = await tag('watch prod', {
        onOut: () => {
          cluster.memory.remove('revisiontags', 'prod');
        },
      });
      assert.deepEqual(
        [errors, code],
        ['error: RevisionTag prod: somebody has deleted it; `injector tag set` creates it again', 1],
      );
    });

    it('refuses a tag that moves at once, and one that is not there', async () => {
      put(undefined, { isAtOnce: true });
      assert.match((await tag('watch prod')).errors, /moves at once, .*`injector tag list` shows where it leads/);
      assert.match((await tag('watch x')).errors, /there is no tag x; there are: prod/);
    });
  });

  describe('set', () => {
    it('keeps the strategy, says that a rollout begins, and waits until it has', async () => {
      put(promoted);
      const { stable } = promoted;
      const isWritten = (): boolean => prod().spec.revision === '1-26';
      asSoonAs(isWritten, () => {
        const canary = { ...stable, revision: '1-26', injectorConfig: '1-26' };
        write({ ...paused, stable, canary });
      });
      const { out, code } = await tag('set prod -r 1-26 --overwrite --timeout 20');
      const begins = 'a rollout from revision 1-25 to 1-26 begins, in 4 steps (spec.strategy.canary)';
      const shows = 'the rollout is under way\n`injector tag watch prod` shows it';
      assert.deepEqual([out, code], [`RevisionTag prod: ${begins}\n${shows}\n`, 0]);
      assert.equal(prod().spec.revision, '1-26');
      assert.equal(prod().spec.strategy?.canary?.steps.length, strategy.canary.steps.length);
    });

    it('says that a rollout is not under way in time', async () => {
      put(promoted);
      sees(await tag('set prod -r 1-26 --overwrite --timeout 0.1'), 1, {
        errors: /not in force after 0\.1 s, .*: NotLookedAt/,
      });
    });

    const cases: [string, RolloutState, string, RegExp][] = [
      ['another', paused, '1-26', /: the rollout to revision 1-25 ends; a rollout from revision 1-24 to 1-26 begins/],
      [
        'the way back',
        paused,
        '1-24',
        /: the rollout to revision 1-25 ends; moved from revision 1-25, leads to revision 1-24/,
      ],
      ['what is under way', paused, '1-25', /: the rollout to revision 1-25 is under way; `injector tag watch prod`/],
      [
        'what was rolled back',
        rolledBack,
        '1-25',
        /^error: tag prod asks for 1-25 already: revision 1-25 was rolled back .*; `injector tag retry prod` begins again, /,
      ],
      ['what is not there yet', rolloutState(), '1-25', /: asks for revision 1-25 already, pods get 1-24: Idle: pods/],
      ['what is there', promoted, '1-25', /: leads to revision 1-25 already/],
    ];
    for (const [what, state, revision, message] of cases) {
      it(`says what becomes of the rollout when it asks for ${what}`, async () => {
        put(state);
        const { out, errors, code } = await tag(`set prod -r ${revision} --overwrite --timeout 0`);
        assert.match(errors + out, message);
        assert.equal(code, state === rolledBack && revision === '1-25' ? 1 : 0);
      });
    }

    it('moves at once where there is no strategy', async () => {
      put(promoted, { isAtOnce: true });
      const { out } = await tag('set prod -r 1-26 --overwrite --timeout 0');
      assert.match(out, /^RevisionTag prod: moved from revision 1-25/);
    });
  });

  it('list shows what pods get, the phase and the share; status and revisions agree', async () => {
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
