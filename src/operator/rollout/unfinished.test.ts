import assert from 'node:assert/strict';
import { template } from '../testdata/operator-fixture.ts';
import { RolloutFixture, tag } from './testdata/rollout-fixture.ts';

describe('A rollout whose leader stopped between writing the state and the path', () => {
  const fixture = new RolloutFixture();
  beforeEach(() => fixture.begin(10));
  afterEach(() => fixture.stop());

  const refuseMoves = (code: number, reason: string, times: number): void => {
    const isMove = (method: string, path: string) =>
      ['PATCH', 'PUT'].includes(method) && path.includes('sidecar-injector-tag-prod');
    fixture.cluster.fail(isMove, code, reason, 'not now', times);
  };
  /** Writes a state with weight 50, while the write of the path fails. */
  const decideHalf = async (): Promise<void> => {
    refuseMoves(503, 'ServiceUnavailable', 1);
    await assert.rejects(fixture.canary('new', [50, 100]));
    assert.equal(fixture.rollout?.weight, 50);
    assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
  };
  /** Edits the tag as a user does, without running a pass. */
  const edit = (revision: string): void => {
    fixture.cluster.edit('revisiontags', tag, undefined, (object) => {
      object.metadata.generation = (object.metadata.generation ?? 0) + 1;
      Object.assign(object.spec as object, { revision });
    });
  };
  const ask = (action: string): void => {
    fixture.cluster.edit('revisiontags', tag, undefined, (object) => {
      object.metadata.annotations = { 'sidecar-injector.io/action': action };
    });
  };
  const moves = (since: number): string[] =>
    fixture.cluster.writes
      .slice(since)
      .filter((write) => write.includes('mutatingwebhook') && write.startsWith('PATCH') && !write.includes('probe'));

  const calls = [
    { title: 'the spec names stable again', change: edit, to: 'old', end: ['Idle', 'Stable', undefined] },
    { title: 'a user aborts it', change: ask, to: 'abort:now', end: ['RolledBack', 'Aborted', 'Done'] },
  ] as const;
  for (const { title, change, to, end } of calls) {
    it(`does not continue when ${title}`, async () => {
      await decideHalf();
      change(to);
      await fixture.takeOver();
      const before = fixture.cluster.writes.length;
      await fixture.pass();
      assert.deepEqual([fixture.tagPath(tag), moves(before)], [fixture.restingPath('old'), []]);
      const { phase, reason, action, canary } = fixture.rollout ?? {};
      assert.deepEqual([phase, reason, action?.state, canary], [...end, undefined]);
    });
  }

  const installThird = async (): Promise<void> => {
    await fixture.install('third');
    edit('third');
  };
  const editNew = (): void => {
    fixture.setTemplate('new', template('new-two'));
  };
  for (const [what, canary, change] of [
    ['the spec names a third revision', 'third', installThird],
    ['the canary serves another configuration', 'new', editNew],
  ] as const) {
    it(`restarts with the new canary, once the pods have been listed, when ${what}`, async () => {
      await decideHalf();
      await change();
      await fixture.takeOver(['old', 'new', canary]);
      await fixture.pass();
      assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
      fixture.follow();
      await fixture.pass();
      const path = `^/tags/prod/old/[0-9a-f]{8}/${canary}/${fixture.hash(canary)}/[0-9a-f]{16}/inject$`;
      assert.match(fixture.tagPath(tag) ?? '', new RegExp(path));
    });
  }

  it('continues without the list of pods when nothing has changed', async () => {
    await decideHalf();
    const decided = fixture.rollout;
    await fixture.takeOver();
    await fixture.pass();
    assert.equal(fixture.threshold, decided?.threshold);
    fixture.follow();
    await fixture.pass();
    const { rollout } = fixture;
    assert.deepEqual([rollout?.threshold, rollout?.startedAt], [decided?.threshold, decided?.startedAt], 'unchanged');
  });

  for (const { title, change, to } of calls) {
    it(`returns to stable before the pods have been listed when ${title}`, async () => {
      await fixture.canary('new', [50, 100]);
      assert.notEqual(fixture.threshold, '');
      await fixture.takeOver();
      await fixture.pass();
      assert.notEqual(fixture.threshold, '', 'the rollout does not move without pods');
      change(to);
      await fixture.pass();
      assert.equal(fixture.tagPath(tag), fixture.restingPath('old'));
    });
  }

  it('retries once a minute while the API server rejects the path', async () => {
    refuseMoves(422, 'Invalid', 4);
    const { requests } = fixture.cluster.server;
    const attempts = (): number =>
      requests.filter(({ method, path }) => method === 'PATCH' && path.includes('sidecar-injector-tag-prod')).length;
    const before = attempts();
    assert.ok((await fixture.canary('new', [50])) >= 1000);
    for (let turn = 0; turn < 5; turn += 1) {
      await fixture.clock.advance(1000);
      assert.equal(await fixture.pass(), 1000, 'passes still check the pods every second');
    }
    assert.deepEqual([attempts() - before, fixture.threshold], [1, '']);
    await fixture.pass(60_000);
    assert.deepEqual([attempts() - before, fixture.threshold], [2, '']);
    await fixture.pass(60_000);
    assert.equal(fixture.threshold, fixture.rollout?.threshold);
  });
});
