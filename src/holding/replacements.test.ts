import assert from 'node:assert/strict';
import { gateOf } from '../api/names.ts';
import type { GatedPod } from './pending-pod.ts';
import { Replacements } from './replacements.ts';

const gate = gateOf('sidecar-injector-blue');
const held = (name: string, since: number, namespace = 'shop'): GatedPod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid: name } },
  owner: { uid: `owner-of-${name}`, namespace },
  held: {
    ...{ gates: [gate], labels: {}, ownerKind: 'apps/v1/ReplicaSet', isSeparated: false, since },
    ...{ isHostNetwork: false, optOuts: [] },
  },
});
const selecting = { isServed: true, inject: 'inject', selects: () => true };

/** Returns the writes of a pass, with `.` for each step, in which a pod is left alone. */
function pass(replacements: Replacements, pods: readonly GatedPod[], now: number): string {
  const order = replacements.inOrder(pods, now);
  for (let text = ''; ;) {
    const steps = replacements.next(order, () => selecting, now);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) text += '. ';
    if (step.value === undefined) return text.trim();
    text += `${step.value.action} ${step.value.pod.metadata.name ?? ''} `;
  }
}

describe('Replacements', () => {
  it('replaces the oldest pod of each namespace first, and workloads that failed last', () => {
    const replacements = new Replacements();
    const pods = [held('young', 2), held('old', 1), held('other', 3, 'other')];
    assert.equal(pass(replacements, pods, 0), 'Delete old . .', 'other namespaces follow after a probe');
    assert.equal(replacements.created({ ...held('old-2', 4), owner: held('old', 1).owner }, 100), true);
    const again = [{ ...held('old-2', 0), owner: held('old', 1).owner }, ...pods.filter((_, index) => index !== 1)];
    assert.equal(pass(replacements, again, 10_000), 'Delete other . .', 'the turn of the other namespace');
    assert.equal(pass(replacements, again.slice(0, 2), 20_000), 'Delete young .');
  });
});
