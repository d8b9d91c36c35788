import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import assert from 'node:assert/strict';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { ConflictMemory } from './conflict-memory.ts';

describe('ConflictMemory', () => {
  it("names the annotation that makes cert-manager's cainjector write, and how to remove it", () => {
    const memory = new ConflictMemory(new ManualClock());
    const webhook = (annotations: Record<string, string>): KubernetesObject => ({
      apiVersion: 'v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'w', annotations },
    });
    const by = (manager: string, field: string) => [{ foreign: [{ manager, field }] }];
    const written = by('cainjector', '.webhooks[name="a"].clientConfig.caBundle');
    const annotated = memory.observe('blue', written, [webhook({ 'cert-manager.io/inject-ca-from': 'a/b' })]).finding;
    assert.equal(annotated.reason, 'CainjectorWrites');
    assert.match(
      annotated.message,
      /: kubectl annotate mutatingwebhookconfiguration w cert-manager\.io\/inject-ca-from-$/,
    );
    assert.equal(memory.observe('green', written, [webhook({})]).finding.reason, 'ForeignManager');
    const another = by('helm', '.webhooks[name="a"].clientConfig.caBundle');
    const byHelm = memory.observe('grey', another, [webhook({ 'cert-manager.io/inject-ca-from': 'a/b' })]).finding;
    assert.equal(byHelm.reason, 'ForeignManager');
    const elsewhere = by('cainjector', '.metadata.labels');
    const other = memory.observe('red', elsewhere, [webhook({ 'cert-manager.io/inject-ca-from': 'a/b' })]).finding;
    assert.equal(other.reason, 'ForeignManager');
  });

  it('reports managers and fields until a minute after the last restored field', async () => {
    const clock = new ManualClock();
    const memory = new ConflictMemory(clock);
    assert.equal(memory.observe('blue', []).finding.status, 'False');
    const first = memory.observe('blue', [{ foreign: [{ manager: 'b', field: '.x' }] }]);
    assert.deepEqual(first, {
      finding: {
        status: 'True',
        reason: 'ForeignManager',
        message: 'b also writes .x; the operator restores each object at most once a second',
      },
      again: 60_000,
    });
    await clock.advance(30_000);
    const again = memory.observe('blue', [{ foreign: [{ manager: 'a', field: '.x' }] }]);
    assert.match(again.finding.message, /^a, b also writes \.x;/);
    assert.equal(memory.observe('green', []).finding.status, 'False');
    await clock.advance(59_999);
    assert.deepEqual([memory.observe('blue', []).finding.status, memory.observe('blue', []).again], ['True', 1]);
    await clock.advance(1);
    assert.deepEqual(memory.observe('blue', []).finding.status, 'False');
  });

  it('names at most five fields', () => {
    const memory = new ConflictMemory(new ManualClock());
    const fields = Array.from({ length: 8 }, (_, index) => ({ manager: 'm', field: `.f${index}` }));
    const message = memory.observe('blue', [{ foreign: fields }]).finding.message;
    assert.match(message, /^m also writes \.f0, \.f1, \.f2, \.f3, \.f4 and 3 more;/);
    memory.forget('blue');
    assert.equal(memory.observe('blue', []).finding.status, 'False');
  });
});
