import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { json } from '../../kube/testdata/fake-api-server.ts';
import { gateOf, replacingAnnotation } from '../../api/names.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const gate = gateOf('sidecar-injector-blue');
const jobLabel = 'batch.kubernetes.io/controller-uid';

describe('HoldKeeper', () => {
  const fixture = new RevisionFixture();
  let leading = new AbortController();
  let held: [string, number][] = [];
  beforeEach(async () => {
    await fixture.start({ holdPods: true });
    held = [];
    leading = new AbortController();
    fixture.metrics.held = (...sample) => held.push(sample);
    const labels = { 'istio.io/rev': 'blue', 'kubernetes.io/metadata.name': 'shop' };
    fixture.cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } });
    await fixture.install('blue', { webhook: { failurePolicy: 'Hold' } });
    await fixture.later(5000, 'blue');
    fixture.reports.live = [{ replica: 'webhook-1', isDraining: false, hashes: [] }];
  });
  afterEach(() => fixture.stop());

  /** Creates a held pod of a workload. */
  function put(
    name: string,
    kind = 'apps/v1/ReplicaSet',
    owner = `${name}-owner`,
    gates: readonly string[] = [gate],
    namespace = 'shop',
  ): KubernetesObject {
    const slash = kind.lastIndexOf('/');
    const reference = {
      apiVersion: kind.slice(0, slash),
      kind: kind.slice(slash + 1),
      name: owner,
      uid: owner,
      controller: true,
    };
    const labels = kind.endsWith('Job') ? { [jobLabel]: owner, 'controller-uid': owner, app: name } : { app: name };
    return fixture.cluster.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels, ...(kind === '' ? {} : { ownerReferences: [reference] }) },
      spec: { containers: [], schedulingGates: gates.map((each) => ({ name: each })) },
      status: { phase: 'Pending' },
    });
  }
  const pod = (name: string): KubernetesObject | undefined => fixture.cluster.get('pods', name, 'shop');
  const pass = (): Promise<number> => fixture.reconcilers.keeper.pass(leading.signal);
  /** Runs passes until the writes since the call fulfil a condition. */
  async function until(isDone: () => boolean): Promise<void> {
    for (let turn = 0; !isDone() && turn < 200; turn += 1) {
      await pass();
      await fixture.clock.advance(50);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.ok(isDone());
  }
  const isDeletion = (method: string, path: string): boolean => method === 'DELETE' && path.includes('/pods/');
  const deletions = (): string[] =>
    fixture.cluster.writes.filter((each) => each.startsWith('DELETE pods')).map((each) => each.slice(12));

  it('replaces one pod first, and the others after the first new pod is injected', async () => {
    for (const name of ['web-1', 'web-2', 'web-3']) put(name, 'apps/v1/ReplicaSet', 'web');
    await until(() => deletions().length === 1);
    assert.deepEqual(deletions(), ['web-1'], 'the oldest pod');
    await pass();
    assert.equal(deletions().length, 1);
    put('web-4', 'apps/v1/ReplicaSet', 'web', []);
    await until(() => deletions().length === 3);
    await until(() => held.at(-1)?.join() === 'blue,0');
  });

  it('pauses while new pods are held again', async () => {
    for (const name of ['web-1', 'web-2']) put(name);
    await until(() => deletions().length === 1);
    put('web-3', 'apps/v1/ReplicaSet', 'web-1-owner');
    await until(() => deletions().length === 2);
    put('web-4', 'apps/v1/ReplicaSet', 'web-2-owner');
    await fixture.until(() => fixture.referenceChanges.includes('(held pods)'));
    await pass();
    assert.equal(deletions().length, 2);
  });

  it('replaces no pod while no replica runs', async () => {
    fixture.reports.live = [];
    put('web-1');
    await until(() => held.some(([, pods]) => pods === 1));
    await pass();
    assert.deepEqual(deletions(), []);
    await fixture.reconcile('blue');
    fixture.says(
      'blue',
      'Holding',
      /^True\/PodsHeld: 1 pod waits for the sidecar, the first since 20\S+Z: no replica of the webhook is running/,
    );
    await fixture.recorded(/^PodsHeld/);
    fixture.reports.live = [{ replica: 'webhook-1', isDraining: false, hashes: [] }];
    await until(() => pod('web-1') === undefined);
    put('web-2', 'apps/v1/ReplicaSet', 'web-1-owner', []);
    await until(() => held.at(-1)?.join() === 'blue,0');
    assert.ok(fixture.referenceChanges.includes('blue'), 'the status is due');
    await fixture.reconcile('blue');
    fixture.says('blue', 'Holding', /^False\/NoPodHeld/);
  });

  it("separates a Job's pod from the Job, and deletes it when the Job has released it", async () => {
    const { metadata } = put('job-1', 'batch/v1/Job', 'job');
    await until(() => pod('job-1')?.metadata.annotations?.[replacingAnnotation] === 'job');
    assert.deepEqual(pod('job-1')?.metadata.labels, { app: 'job-1' });
    await pass();
    assert.deepEqual(deletions(), []);
    fixture.cluster.edit('pods', 'job-1', 'shop', (object) => delete object.metadata.ownerReferences);
    await until(() => pod('job-1') === undefined);
    assert.ok(metadata.uid);
  });

  it('removes only its own gate from pods that no webhook selects any more', async () => {
    put('web-1', 'apps/v1/ReplicaSet', 'web', ['example.com/quota', gate]);
    fixture.cluster.edit('namespaces', 'shop', undefined, ({ metadata }) => (metadata.labels = {}));
    await until(() => JSON.stringify(pod('web-1')?.spec).includes('"schedulingGates":[{"name":"example.com/quota"}]'));
    assert.deepEqual(deletions(), []);
  });

  it('reads the labels of the namespace before it releases a pod, because its watch may lag', async () => {
    const labels = { 'istio.io/rev': 'blue', 'kubernetes.io/metadata.name': 'late' };
    fixture.cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late', labels: {} } });
    await until(() => held.length === 0);
    const held1 = put('web-1');
    fixture.cluster.remove('pods', 'web-1', 'shop');
    let reads = 0;
    const metadata = { name: 'late', labels, resourceVersion: '999999' };
    const items = [{ apiVersion: 'v1', kind: 'Namespace', metadata }];
    fixture.cluster.faults.push({
      matches: (method, path) => method === 'GET' && path === '/api/v1/namespaces' && (reads += 1) > 0,
      answer: (response) => json(response, 200, { metadata: {}, items }),
    });
    fixture.cluster.put('pods', {
      ...held1,
      metadata: { ...held1.metadata, namespace: 'late', name: 'web-2', uid: 'late-uid' },
    });
    await until(() => reads > 0);
    await until(() => fixture.cluster.get('pods', 'web-2', 'late') === undefined);
    assert.ok(!fixture.cluster.writes.includes('PATCH pods web-2'), 'it was replaced, not released');
  });

  it('leaves pods alone while a policy of another operator class exists', async () => {
    fixture.cluster.put('mutatingadmissionpolicies', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'sidecar-injector-foreign' },
      spec: {},
    });
    put('web-1', 'apps/v1/ReplicaSet', 'web', [gateOf('sidecar-injector-foreign')]);
    for (let turn = 0; turn < 5; turn += 1) await until(() => true).then(pass);
    assert.ok(JSON.stringify(pod('web-1')?.spec).includes('hold.'));
    fixture.cluster.remove('mutatingadmissionpolicies', 'sidecar-injector-foreign');
    await until(() => !JSON.stringify(pod('web-1')?.spec).includes('hold.'));
  });

  it('releases pods after their InjectorConfig is paused, and leaves pods of foreign webhooks alone', async () => {
    put('web-1');
    put('web-2', 'apps/v1/ReplicaSet', 'other', [gateOf('sidecar-injector-foreign')]);
    fixture.cluster.put('mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: {
        name: 'sidecar-injector-foreign',
        labels: { 'app.kubernetes.io/managed-by': 'sidecar-injector', 'sidecar-injector.io/operator-class': 'other' },
      },
      webhooks: [],
    });
    await fixture.edit('blue', { paused: true });
    await until(() => !JSON.stringify(pod('web-1')?.spec).includes('hold.'));
    assert.ok(JSON.stringify(pod('web-2')?.spec).includes('hold.'));
  });

  it('says which pods no controller replaces', async () => {
    put('alone', '');
    await until(() => held.some(([, pods]) => pods === 1));
    await fixture.reconcile('blue');
    fixture.says('blue', 'Holding', /1 of them have no controller that replaces them: delete these pods$/);
  });

  it('goes on if a pod has changed or is gone', async () => {
    for (const code of [404, 409]) fixture.cluster.fail(isDeletion, code, 'Conflict', 'it has changed', 1);
    put('web-1');
    await until(() => pod('web-1') === undefined);
    put('web-2', 'apps/v1/ReplicaSet', 'web-1-owner', []);
  });

  for (const code of [403, 422, 500]) {
    it(`goes on with other pods if the API server refuses to change one with ${code}, and says so`, async () => {
      const isRefused = (method: string, path: string): boolean => method === 'DELETE' && path.includes('/pods/web-1');
      fixture.cluster.fail(isRefused, code, 'Refused', 'a policy of this namespace denies it');
      put('web-1');
      put('web-2');
      await until(() => pod('web-2') === undefined);
      assert.ok(pod('web-1'));
      await pass();
      await fixture.reconcile('blue');
      fixture.says('blue', 'Holding', /the API server refused the write: a policy of this namespace denies it$/);
      fixture.cluster.faults.length = 0;
      put('web-3', 'apps/v1/ReplicaSet', 'web-2-owner', []);
      await fixture.clock.advance(30_000);
      await until(() => pod('web-1') === undefined);
    });
  }

  it('stops at an answer that is not about a pod', async () => {
    fixture.cluster.fail(isDeletion, 429, 'TooMany', 'slow down', 1);
    put('web-1');
    await assert.rejects(
      until(() => pod('web-1') === undefined),
      /slow down/,
    );
  });

  it('lets namespaces take turns, so that not all writes of a pass go to one', async () => {
    for (const name of ['author', 'other'])
      fixture.cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await pass();
    for (let index = 0; index < 60; index += 1) put(`a-${index}`, 'apps/v1/ReplicaSet', 'a', [gate], 'author');
    put('web', 'apps/v1/ReplicaSet', 'web', [gate], 'other');
    await fixture.watched();
    await pass();
    assert.ok(fixture.cluster.writes.includes('PATCH pods web'));
  });

  it('recovers at least half as fast beside 240 Deployments of another namespace', async () => {
    const { clock, cluster, referenceChanges } = fixture;
    const labels = { 'istio.io/rev': 'blue', 'kubernetes.io/metadata.name': 'evil' };
    cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'evil', labels } });
    const owners = new Map<string, string>();
    const create = (name: string, owner: string, gates = [gate]): void => {
      owners.set(name, owner);
      put(name, 'apps/v1/ReplicaSet', owner, gates, name.startsWith('evil') ? 'evil' : 'shop');
    };
    /** Returns the ms until 20 pods of `shop` have their sidecar, beside more pods of `evil`. */
    const recovery = async (round: string, hostile: number, heldAfter = Infinity): Promise<number> => {
      // Nothing is known any more about the webhook, or about namespaces without held pods.
      await clock.advance(30_000);
      await pass();
      for (let index = 0; index < hostile; index += 1) create(`evil-${round}-${index}`, `evil-${round}-${index}`);
      const victims = Array.from({ length: 20 }, (_, index) => `${round}-${index}`);
      for (const [index, name] of victims.entries()) create(name, `${round}-owner-${index % 4}`);
      await fixture.watched();
      const started = clock.monotonic();
      for (let due = started; victims.some((name) => pod(`${name}+`) === undefined);) {
        assert.ok(clock.monotonic() - started < 60_000, 'pods stay held');
        if (referenceChanges.splice(0).includes('(held pods)')) due = clock.monotonic();
        const before = deletions().length;
        if (clock.monotonic() >= due) due = clock.monotonic() + (await pass());
        for (const name of deletions().slice(before)) {
          const isVictim = victims.includes(name);
          const after = isVictim ? 100 : heldAfter;
          const renew = (): void => create(`${name}+`, owners.get(name) ?? '', isVictim ? [] : [gate]);
          if (after < Infinity) clock.after(after, renew);
        }
        await clock.advance(50);
        await fixture.watched();
      }
      return clock.monotonic() - started;
    };
    const alone = await recovery('alone', 0);
    const attacked = {
      refused: await recovery('refused', 240),
      heldAtOnce: await recovery('held', 100, 50),
      heldAfterSeconds: await recovery('late', 100, 3000),
      whileOthersStayHeld: await recovery('later', 0),
    };
    for (const took of Object.values(attacked)) assert.ok(took <= 2 * alone, JSON.stringify({ alone, attacked }));
  });

  it('releases all gates that nothing needs with one write', async () => {
    put('web-1', 'apps/v1/ReplicaSet', 'web', [
      gateOf('sidecar-injector-x'),
      'example.com/quota',
      gateOf('sidecar-injector-y'),
    ]);
    await until(() => JSON.stringify(pod('web-1')?.spec).includes('"schedulingGates":[{"name":"example.com/quota"}]'));
    assert.equal(fixture.cluster.writes.filter((each) => each === 'PATCH pods web-1').length, 1);
  });

  it('removes a policy that a crash left behind', async () => {
    fixture.setSpec('blue', { paused: true });
    fixture.cluster.remove('mutatingwebhookconfigurations', 'sidecar-injector-blue');
    await fixture.caughtUp();
    await until(() => fixture.cluster.names('mutatingadmissionpolicies').length === 0);
    assert.deepEqual(fixture.cluster.names('mutatingadmissionpolicybindings'), []);
  });

  it('tries again soon while the policies cannot be listed', async () => {
    fixture.restart({ holdPods: true });
    fixture.cluster.fail((_method, path) => path.includes('mutatingadmissionpolic'), 404, 'NotFound', 'not served');
    assert.equal(await pass(), 10_000);
  });

  it('yields to other work while it judges very many held pods', async () => {
    fixture.reports.live = [];
    for (let index = 0; index < 600; index += 1) put(`web-${index}`);
    await until(() => held.some(([, pods]) => pods === 600));
    const { clock } = fixture;
    const monotonic = clock.monotonic.bind(clock);
    let [looks, turns, isOver] = [0, 0, false];
    const turn = (): unknown => (turns += 1) && !isOver && setImmediate(turn);
    turn();
    // Each look at the clock takes 0.1 ms.
    clock.monotonic = () => monotonic() + (looks += 1) / 10;
    await pass();
    isOver = true;
    clock.monotonic = monotonic;
    assert.ok(turns > 30, `${turns} turns of the event loop`);
  });

  it('does nothing without the flag', async () => {
    fixture.restart();
    put('web-1');
    assert.equal(await pass(), 600_000);
    assert.ok(pod('web-1'));
  });
});
