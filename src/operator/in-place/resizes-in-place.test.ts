import assert from 'node:assert/strict';
import { updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import { allowed, type Reported, updateFixture } from './testdata/update-fixture.ts';

describe('updates in place with a resize', () => {
  const { fixture, counted, begin, create, become, stored, imageOf, cpuOf, updateOf, running } = updateFixture();
  const cpu = { old: '100m', new: '200m' };
  const given = (amount: string): Reported => ({ resources: { requests: { cpu: amount } } });
  const said = (type: string, reason: string, message: string): Reported => ({
    ...given('100m'),
    conditions: [{ type, status: 'True', reason, message }],
  });

  /** Moves the tag, until the sidecar of a pod has the CPU of the new revision. */
  async function beginResize(): Promise<void> {
    await begin({}, cpu);
    create('web-0');
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
    next();
    await fixture.passUntil(() => cpuOf('web-0') === '200m');
    next();
  }

  /** Another process leads. */
  function next(): void {
    fixture.lead();
    fixture.observe('web-0');
  }

  it('write nothing else until it is in effect, also under the next leader', async () => {
    await beginResize();
    become('web-0', 0, running(), 'True', said('PodResizeInProgress', '', ''));
    await fixture.passOn();
    assert.equal(imageOf('web-0'), 'proxy:1');
    assert.equal(stored('web-0')?.metadata.annotations?.['sidecar-injector.io/config'], `old.${fixture.hash('old')}`);
    become('web-0', 0, running(), 'True', given('0.2'));
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    next();
    assert.equal(updateOf('web-0')?.resizing, undefined);
    become('web-0', 1, running(), 'True', given('0.2'));
    await fixture.passUntil(() => updateOf('web-0') === undefined);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['200m', 'proxy:2']);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
  });

  for (const [title, resize, milliseconds, message] of [
    ['that no node can', said('PodResizePending', 'Infeasible', 'too much'), 0, /cannot give the pod .*: too much$/],
    ['that has to wait', said('PodResizePending', 'Deferred', 'full'), 61_000, /its new resources after 1m: full$/],
    ['without an effect', given('100m'), 61_000, /does not have its new resources after 1m$/],
  ] as const) {
    it(`take back one ${title}`, async () => {
      await beginResize();
      become('web-0', 0, running(), 'True', resize);
      if (milliseconds > 0) {
        await fixture.passOn();
        assert.equal(cpuOf('web-0'), '200m', 'it may still succeed');
        await fixture.clock.advance(milliseconds);
      }
      await fixture.passUntil(() => cpuOf('web-0') === '100m');
      next();
      await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
      assert.match(updateOf('web-0')?.failed ?? '', message);
      await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
      assert.equal(imageOf('web-0'), 'proxy:1');
    });
  }

  const [ofPod, ofResize] = ['pods', 'pods/resize'];
  for (const [title, image, writes] of [
    ['succeed', 'proxy:2', [ofPod, ofResize, ofPod, ofPod]],
    ['fail', 'proxy:1', [ofPod, ofResize, ofPod, ofResize, ofPod]],
  ] as const) {
    for (const number of [0, ...writes.map((_, index) => index + 1)]) {
      const when = number === 0 ? 'each write' : `write ${number}`;
      it(`${title} although the leader is killed after ${when}, and none leads for long`, async () => {
        await begin({}, cpu);
        create('web-0');
        await fixture.move('prod', 'new');
        const written: string[] = [];
        let [restarts, started, kills] = [0, imageOf('web-0'), 0];
        /** Does what a kubelet does. The other image crashes until the resources are restored. */
        const act = (): void => {
          if (imageOf('web-0') !== started) [restarts, started] = [restarts + 1, imageOf('web-0')];
          const isRestored = written.filter((each) => each === ofResize).length > 1;
          const isFailing = title === 'fail' && started === 'proxy:2' && !isRestored;
          const state = isFailing ? { waiting: { reason: 'CrashLoopBackOff' } } : running();
          become('web-0', restarts, state, isFailing ? 'False' : 'True', given(cpuOf('web-0') ?? ''));
        };
        fixture.isFatal = ({ resource }) =>
          resource.startsWith('pods') && (written.push(resource) === number || number === 0);
        for (let turn = 0, quiet = 0; turn < 60; turn += 1) {
          const before = written.length;
          await fixture.pass();
          quiet = written.length === before ? quiet + 1 : 0;
          // The kubelet needs longer than some passes.
          if (quiet === 5) act();
          if (!fixture.signal.aborted) continue;
          kills += 1;
          // Longer than `readyTimeout`.
          await fixture.clock.advance(kills % 2 === 0 ? 1000 : 61_000);
          act();
          fixture.restart(allowed);
          await fixture.caughtUp();
          next();
        }
        // The kubelet has had no time for a resize if no process led before it.
        const [first, ...rest] = writes;
        assert.deepEqual(written, [first, ...(number > 1 ? [] : [ofPod]), ...rest]);
        const [{ failed } = {}, has] = [updateOf('web-0'), title === 'fail' ? cpu.old : cpu.new];
        assert.deepEqual([imageOf('web-0'), cpuOf('web-0'), failed !== undefined], [image, has, title === 'fail']);
      });
    }
  }

  it('take it back when the tag moves on, and write nothing else', async () => {
    await beginResize();
    await fixture.move('prod', 'old');
    become('web-0', 0, running(), 'True', given('200m'));
    await fixture.passUntil(() => updateOf('web-0')?.resizing === undefined);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
    await fixture.passUntil(() => updateOf('web-0') === undefined);
    await fixture.passUntil(() => fixture.status()?.phase === 'Idle');
    assert.equal(imageOf('web-0'), 'proxy:1');
  });

  it('are no failure if the tag moves on, and comes back', async () => {
    await beginResize();
    await fixture.move('prod', 'env');
    become('web-0', 0, running(), 'True', given('200m'));
    await fixture.passUntil(() => cpuOf('web-0') === '100m');
    become('web-0', 0, running(), 'True', given('100m'));
    await fixture.passOn();
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
    assert.deepEqual(counted, []);
  });

  it('give no pod a configuration that an author has written into its record', async () => {
    await begin({}, cpu);
    create('web-0');
    const target = `new.${fixture.hash('new')}`;
    const before = { images: {}, restarts: {}, labels: {}, annotations: {} };
    fixture.cluster.edit('pods', 'web-0', 'shop', ({ metadata }) => {
      const at = fixture.clock.now().toISOString();
      const record = JSON.stringify({ tag: 'prod', target, at, resizing: true, before });
      metadata.annotations = { ...metadata.annotations, [updateAnnotation]: record };
    });
    fixture.observe('web-0');
    await fixture.passUntil(() => updateOf('web-0')?.resizing === undefined);
    await fixture.passOn();
    assert.deepEqual([imageOf('web-0'), cpuOf('web-0')], ['proxy:1', '100m']);
  });

  it('leave a pod that has just ended as it is', async () => {
    await beginResize();
    fixture.cluster.edit('pods', 'web-0', 'shop', (pod) => {
      pod.status = { phase: 'Succeeded' };
    });
    await fixture.passUntil(() => updateOf('web-0') === undefined);
    assert.equal(imageOf('web-0'), 'proxy:1');
  });

  it('stop if the API server refuses it', async () => {
    await begin({}, cpu);
    create('web-0');
    const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'exceeded quota', 1);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => fixture.status()?.phase === 'Stopped');
    assert.match(fixture.status()?.message ?? '', /the API server refuses the change: .*exceeded quota/);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
  });

  it('are taken back if the kubelet becomes too old for the rest', async () => {
    await beginResize();
    fixture.cluster.edit('nodes', 'node', undefined, (node) => {
      node.status = { nodeInfo: { kubeletVersion: 'v1.31.0', operatingSystem: 'linux' } };
    });
    become('web-0', 0, running(), 'True', given('200m'));
    await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
    assert.match(updateOf('web-0')?.failed ?? '', /^spec\.initContainers\[proxy\]\.image: kubelets before 1\.32 /);
    assert.equal(cpuOf('web-0'), '100m');
  });

  it('say so if the resources cannot be restored', async () => {
    await beginResize();
    const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
    fixture.cluster.fail(refuse, 422, 'Invalid', 'too small', 1);
    become('web-0', 0, running(), 'True', said('PodResizePending', 'Infeasible', 'too much'));
    await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
    assert.match(updateOf('web-0')?.failed ?? '', /too much; its resources were not restored: .*too small/);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['200m', 'proxy:1']);
  });

  it('are tried again after an error of the API server', async () => {
    await begin({}, cpu);
    create('web-0');
    const fails = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/resize');
    fixture.cluster.fail(fails, 500, 'InternalError', 'etcd is away', 1);
    await fixture.move('prod', 'new');
    await fixture.passUntil(() => updateOf('web-0')?.resizing === true);
    await fixture.passOn(5000);
    await fixture.passUntil(() => cpuOf('web-0') === '200m');
    assert.equal(updateOf('web-0')?.failed, undefined);
  });

  it('are taken back if the API server refuses the image', async () => {
    await beginResize();
    const refuse = (method: string, path: string): boolean => method === 'PATCH' && path.includes('/pods/web-0');
    fixture.cluster.fail(refuse, 403, 'Forbidden', 'denied by a policy', 1);
    become('web-0', 0, running(), 'True', given('200m'));
    await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
    assert.match(updateOf('web-0')?.failed ?? '', /the API server refuses the change: .*denied by a policy/);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
  });

  it('restore the resources with the image', async () => {
    await beginResize();
    become('web-0', 0, running(), 'True', given('200m'));
    await fixture.passUntil(() => imageOf('web-0') === 'proxy:2');
    become('web-0', 1, { waiting: { reason: 'CrashLoopBackOff' } }, 'False', given('200m'));
    await fixture.passUntil(() => updateOf('web-0')?.failed !== undefined);
    assert.deepEqual([cpuOf('web-0'), imageOf('web-0')], ['100m', 'proxy:1']);
  });
});
