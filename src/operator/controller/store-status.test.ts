import assert from 'node:assert/strict';
import { RolloutFixture, tag } from '../rollout/testdata/rollout-fixture.ts';

describe('A status that the API server refuses', () => {
  const fixture = new RolloutFixture();
  beforeEach(() => fixture.begin(4));
  afterEach(() => fixture.stop());

  /** Refuses statuses of an object that contain a text. */
  const refuse = (plural: string, name: string, text: string, code = 422): void => {
    const matches = (method: string, path: string, body: string) =>
      method === 'PATCH' && path.endsWith(`/${plural}/${name}/status`) && body.includes(text);
    fixture.cluster.fail(matches, code, 'Invalid', `${name} is refused`);
  };

  it('is written without its lists, and its rollout goes on', async () => {
    const applied: string[] = [];
    fixture.metrics.applied = (kind, outcome) => applied.push(`${kind} ${outcome}`);
    await fixture.canary('new', [50, 100]);
    await fixture.pass(60_000);
    assert.ok('workloads' in fixture.tagStatus(tag));
    refuse('revisiontags', tag, '"workloads"');
    await fixture.passUntil('Promoted');
    assert.ok(!('workloads' in fixture.tagStatus(tag)));
    fixture.tagSays(tag, 'Ready', /^True/);
    await fixture.recorded(/^StatusRefused: the API server refuses the status.*: prod is refused$/);
    assert.ok(applied.includes('RevisionTag StatusRefused'));
    fixture.cluster.faults.length = 0;
    await fixture.pass();
    assert.ok('workloads' in fixture.tagStatus(tag), 'the lists return with the next status');
  });

  for (const code of [400, 413, 422]) {
    it(`delays no write of a webhook, not even its own: ${code}`, async () => {
      refuse('revisiontags', tag, '"rollout"', code);
      const path = fixture.tagPath(tag);
      assert.ok((await fixture.canary('new', [50])) <= 30_000);
      assert.equal(fixture.tagPath(tag), path, 'a rollout begins only after its state is stored');
      fixture.emptyBundles(`tag-${tag}`);
      await fixture.pass(2000);
      assert.equal(fixture.tagBundles(tag)[0], fixture.webhooks('old')[0]?.clientConfig.caBundle);
      refuse('injectorconfigs', 'other', 'status', code);
      await fixture.install('other');
      assert.match(fixture.path('other') ?? '', /^\/revisions\/other/);
      assert.ok((await fixture.reconcile('other')) <= 30_000);
      await fixture.tag('test', 'old');
      fixture.tagSays('test', 'Ready', /^True/);
    });
  }

  it('is not refused for what an author wrote into a message', async () => {
    const [pod, message] = ['shop/web', `web\u0080\u0085\u2028\ufffe\uffff\u{1f600}\ud800`];
    const counts = { injectorConfig: 'old', hash: fixture.hash('old'), count: 1, first: 0, last: 0 };
    fixture.reports.failing = { ...counts, reason: 'TemplateFailed', message, pod };
    await fixture.reconcile('old');
    assert.ok(fixture.condition('old', 'InjectionFailing').endsWith(message.toWellFormed()));
    const writes = fixture.cluster.writes.length;
    await fixture.reconcile('old');
    assert.equal(fixture.cluster.writes.length, writes, 'an equal status is not written again');
  });
});
