import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { prepullLabel } from '../../api/names.ts';
import { strategy, updateFixture } from './testdata/update-fixture.ts';

describe('updates in place with prepull', () => {
  const { fixture, begin, create, become, imageOf, running } = updateFixture();
  const names = ['web-0', 'web-1'];
  const pulls = (): KubernetesObject[] => fixture.cluster.list('pods', 'injection', { labelSelector: prepullLabel });
  /** Sets the status of the only pod that pulls. */
  function pulled(status: object): void {
    const [{ metadata } = assert.fail('no pod pulls')] = pulls();
    fixture.cluster.edit('pods', metadata.name ?? '', 'injection', (pod) => {
      pod.status = status;
    });
  }
  const said = (state: object, imageID = ''): object => ({
    phase: 'Pending',
    containerStatuses: [{ name: 'pull', imageID, state }],
  });
  const waiting = (reason: string): boolean => fixture.status()?.waiting[0]?.reason === reason;

  /** Moves the tag, until the new image is needed on the node of pods. */
  async function beginPull(...pods: string[]): Promise<void> {
    await begin();
    const restart = { ...strategy.restart, maxUnavailableWorkloads: 2, perNamespace: 2 };
    const own = { ...strategy, restart: { ...restart, prepull: true, pullSecrets: ['registry'] } };
    fixture.setSpec('prod', { strategy: own }, 'revisiontags');
    for (const name of pods) create(name, { kind: 'ReplicaSet', name });
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => pulls().length > 0);
  }

  it('change no pod before its node has the image, also under the next leader, and leave no pod', async () => {
    await beginPull('web-0', 'web-1');
    await fixture.passOn(20_000);
    assert.equal(pulls().length, 1, 'one pod for both');
    assert.ok(waiting('Pulling'), fixture.status()?.waiting[0]?.reason);
    assert.match(fixture.status()?.waiting[0]?.message ?? '', /^waits for image proxy:2 on node node$/);
    const [pod] = pulls();
    const { nodeName, imagePullSecrets, restartPolicy } = pod?.spec as Record<string, unknown>;
    assert.deepEqual([nodeName, imagePullSecrets, restartPolicy], ['node', [{ name: 'registry' }], 'Never']);
    const [owner] = pod?.metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.kind, owner?.name], ['RevisionTag', 'prod']);
    assert.deepEqual(
      names.map((each) => imageOf(each)),
      ['proxy:1', 'proxy:1'],
    );
    fixture.lead();
    for (const name of names) fixture.observe(name);
    pulled(said({ terminated: { reason: 'StartError', exitCode: 128 } }, 'sha256:2'));
    await fixture.passUntil(() => names.every((each) => imageOf(each) === 'proxy:2'));
    for (const name of names) become(name, 1, running());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.deepEqual(pulls(), []);
  });

  it('say which image a node cannot pull, and go on when it can', async () => {
    await beginPull('web-0');
    pulled(said({ waiting: { reason: 'ErrImagePull', message: 'no such host' } }));
    await fixture.passUntil(() => waiting('NotPulled'));
    const { message = '' } = fixture.status()?.waiting[0] ?? {};
    assert.equal(message, 'image proxy:2 on node node could not be pulled: ErrImagePull: no such host');
    assert.equal(imageOf('web-0'), 'proxy:1');
    pulled(said({ waiting: { reason: 'ContainerCreating' } }, 'sha256:2'));
    await fixture.clock.advance(61_000);
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    // A pod that cannot be deleted delays nothing.
    const deletes = (method: string, path: string): boolean => method === 'DELETE' && path.includes('/pods/');
    fixture.cluster.fail(deletes, 403, 'Forbidden', 'cannot delete pods', 1);
    become('web-0', 1, running());
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.equal(pulls().length, 1);
  });

  it('replace a pod that has ended without the image', async () => {
    await beginPull('web-0');
    const [first] = pulls();
    pulled({ phase: 'Failed', reason: 'OutOfpods', message: 'the node is full' });
    await fixture.passUntil(() => waiting('NotPulled'));
    assert.match(fixture.status()?.waiting[0]?.message ?? '', /: OutOfpods: the node is full$/);
    await fixture.clock.advance(61_000);
    await fixture.passUntil(() => pulls().length > 0);
    assert.notEqual(pulls()[0]?.metadata.uid, first?.metadata.uid);
    assert.equal(imageOf('web-0'), 'proxy:1');
  });

  it('say how to grant the right to pull', async () => {
    const creates = (method: string, path: string): boolean => method === 'POST' && path.endsWith('/pods');
    await begin();
    fixture.cluster.fail(creates, 403, 'Forbidden', 'cannot create pods', 1);
    const own = { ...strategy, restart: { ...strategy.restart, prepull: true } };
    fixture.setSpec('prod', { strategy: own }, 'revisiontags');
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => waiting('NotPulled'));
    assert.match(
      fixture.status()?.waiting[0]?.message ?? '',
      /cannot create pods; set operator\.prepullPods of the chart/,
    );
  });
});
