import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { eachTest } from '../testdata/operator-fixture.ts';
import { TagFixture } from './testdata/tag-fixture.ts';

const plural = 'mutatingwebhookconfigurations';

describe('the webhook of a tag, damaged by another client,', () => {
  const fixture = eachTest(new TagFixture());
  /** Makes the API server reject writes with this end of the path if the body contains `text`. */
  const refuse = (end: string, text: string): void => {
    const isWrong = (method: string, path: string, body: string): boolean =>
      method !== 'GET' && path.endsWith(end) && body.includes(text);
    fixture.cluster.fail(isWrong, 422, 'Invalid', 'no CEL');
  };

  describe('while spec.revision is not ready', () => {
    beforeEach(async () => {
      await fixture.installTagged('old');
      await fixture.install('new', { injection: { templates: { sidecar: '{{ if }}' } } });
      await fixture.move('prod', 'new');
    });

    const assertRestored = (): void => {
      assert.equal(fixture.tagPath('prod'), `/tags/prod/old/${fixture.hash('old')}/inject`);
      assert.equal(fixture.tagObject('prod')?.metadata.labels?.['sidecar-injector.io/injector-config'], 'old');
      assert.equal(fixture.tagStatus('prod')['stableRevision'], 'old');
    };

    it('is recreated for the current revision after a deletion', async () => {
      fixture.cluster.remove(plural, 'sidecar-injector-tag-prod');
      await fixture.reconcileTag('prod');
      assertRestored();
    });

    it('regains the labels for rotations under a new leader', async () => {
      fixture.cluster.edit(plural, 'sidecar-injector-tag-prod', undefined, ({ metadata }) => {
        metadata.labels = {};
      });
      fixture.restart();
      await fixture.reconcile('old', 'prod');
      assertRestored();
    });

    it('is not recreated while the current revision is paused', async () => {
      await fixture.edit('old', { paused: true }, 'prod');
      await fixture.reconcileTag('prod');
      assert.equal(fixture.tagObject('prod'), undefined);
      assert.equal(fixture.tagStatus('prod')['hash'], undefined);
    });
  });

  it('gets its caBundle back when tag default points to default and the API server rejects its matchConditions', async () => {
    await fixture.install('default');
    await fixture.tag('default', 'default');
    const [served] = fixture.tagBundles('default');
    fixture.setSpec('default', { webhook: { matchConditions: [{ name: 'broken', expression: 'object.(' }] } });
    refuse('/sidecar-injector-default', 'object.(');
    fixture.emptyBundles('default');
    await fixture.reconcileTag('default');
    await fixture.clock.advance(1000);
    await fixture.reconcileTag('default');
    assert.deepEqual(new Set(fixture.tagBundles('default')), new Set([served]));
    fixture.tagSays('default', 'WebhookReady', /^False\/Invalid: no CEL; the webhook stays as it was$/);
  });

  it('keeps path and caBundle of the current revision while the API server rejects the new path', async () => {
    await fixture.installTagged('old', 'new');
    const trusted = fixture.tagBundles('prod');
    refuse('/sidecar-injector-tag-prod', '/tags/prod/new/');
    await fixture.move('prod', 'new');
    await fixture.reconcileTag('prod');
    assert.match(fixture.tagPath('prod') ?? '', /^\/tags\/prod\/old\//);
    assert.deepEqual(fixture.tagBundles('prod'), trusted);
  });

  describe('while the API server rejects its desired matchConditions', () => {
    beforeEach(async () => {
      await fixture.installTagged('old');
      fixture.setSpec('old', { webhook: { matchConditions: [{ name: 'broken', expression: 'object.(' }] } });
      refuse('', 'object.(');
      await fixture.reconcile('old');
    });

    it('gets its caBundle back, however many passes run', async () => {
      const [served] = fixture.tagBundles('prod');
      fixture.emptyBundles('tag-prod');
      for (let turn = 0; turn < 2; turn += 1) {
        await fixture.reconcileTag('prod');
        await fixture.reconcile('old');
        await fixture.clock.advance(1000);
      }
      assert.deepEqual(new Set(fixture.tagBundles('prod')), new Set([served]));
      fixture.tagSays('prod', 'WebhookReady', /^False\/Invalid: no CEL; the webhook stays/);
    });

    it('is reported as missing when a user has deleted it', async () => {
      fixture.cluster.remove(plural, 'sidecar-injector-tag-prod');
      await fixture.reconcileTag('prod');
      fixture.tagSays('prod', 'WebhookReady', /^False\/Invalid: no CEL; there is no webhook, so/);
    });

    it('is retried after a minute, and immediately when a user corrects the matchConditions', async () => {
      assert.equal(await fixture.reconcileTag('prod'), 60_000);
      await fixture.clock.advance(10_000);
      assert.equal(await fixture.reconcileTag('prod'), 50_000);
      const right = { name: 'right', expression: 'true' };
      fixture.setSpec('old', { webhook: { matchConditions: [right] } });
      await fixture.reconcileTag('prod');
      fixture.tagSays('prod', 'WebhookReady', /^True/);
      const [webhook] = fixture.tagObject('prod')?.webhooks as { matchConditions: unknown[] }[];
      assert.ok(webhook?.matchConditions.some((each) => isDeepStrictEqual(each, right)));
    });
  });
});
