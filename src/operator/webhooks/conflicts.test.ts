import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import assert from 'node:assert/strict';
import { conflictBackOff, type ConflictMemory, observeConflict } from './conflicts.ts';

describe('observeConflict', () => {
  const by = (manager: string, field: string) => [{ foreign: [{ manager, field }] }];

  it("names the annotation that makes cert-manager's cainjector write, and how to remove it", () => {
    const observe = (manager: string, field: string, annotations: Record<string, string>) => {
      const metadata = { name: 'w', annotations };
      const webhook: KubernetesObject = { apiVersion: 'v1', kind: 'MutatingWebhookConfiguration', metadata };
      return observeConflict({}, 0, by(manager, field), [webhook]).finding;
    };
    const bundle = '.webhooks[name="a"].clientConfig.caBundle';
    const annotation = { 'cert-manager.io/inject-ca-from': 'a/b' };
    const annotated = observe('cainjector', bundle, annotation);
    assert.equal(annotated.reason, 'CainjectorWrites');
    assert.match(
      annotated.message,
      /: kubectl annotate mutatingwebhookconfiguration w cert-manager\.io\/inject-ca-from-$/,
    );
    assert.equal(observe('cainjector', bundle, {}).reason, 'ForeignManager');
    assert.equal(observe('helm', bundle, annotation).reason, 'ForeignManager');
    assert.equal(observe('cainjector', '.metadata.labels', annotation).reason, 'ForeignManager');
  });

  it('reports managers and fields until a minute after the last restored field', () => {
    const memory: ConflictMemory = {};
    assert.deepEqual(observeConflict(memory, 0, []), {
      finding: { status: 'False', reason: 'NoConflict', message: 'no other field manager writes to our fields' },
      again: 600_000,
    });
    assert.deepEqual(observeConflict(memory, 0, by('b', '.x')), {
      finding: {
        status: 'True',
        reason: 'ForeignManager',
        message: 'b also writes .x; the operator restores each object at most once a second',
      },
      again: 60_000,
    });
    assert.equal(conflictBackOff(memory, 400), 600);
    assert.ok(conflictBackOff({}, 400) < 0);
    const again = observeConflict(memory, 30_000, by('a', '.x')).finding;
    assert.match(again.message, /^a, b also writes \.x;/);
    const last = observeConflict(memory, 89_999, []);
    assert.deepEqual([last.finding.status, last.again], ['True', 1]);
    assert.equal(observeConflict(memory, 90_000, []).finding.status, 'False');
    const next = observeConflict(memory, 90_000, by('c', '.y')).finding;
    assert.match(next.message, /^c also writes \.y;/);
  });

  it('names at most five fields', () => {
    const foreign = Array.from({ length: 8 }, (_, index) => ({ manager: 'm', field: `.f${index}` }));
    const { message } = observeConflict({}, 0, [{ foreign }]).finding;
    assert.match(message, /^m also writes \.f0, \.f1, \.f2, \.f3, \.f4 and 3 more;/);
  });
});
