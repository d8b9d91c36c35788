import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { gateOf } from '../../api/names.ts';
import { injectorConfig, template } from '../testdata/operator-fixture.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const policy = 'sidecar-injector-blue';
const hold = { failurePolicy: 'Hold' };

describe('HoldPolicies', () => {
  const fixture = new RevisionFixture();
  beforeEach(() => fixture.start({ holdPods: true }));
  afterEach(() => fixture.stop());

  /** Returns the failurePolicy of each webhook, in order. */
  const failurePolicies = (): string =>
    fixture
      .webhooks('blue')
      .map(({ name, failurePolicy }) => `${name.replace('.sidecar-injector.io', '')} ${failurePolicy}`)
      .join(', ');
  const policies = (): string[] => fixture.cluster.names('mutatingadmissionpolicies');
  const bindings = (): string[] => fixture.cluster.names('mutatingadmissionpolicybindings');
  const failing = 'rev.namespace Fail, rev.object Fail';
  const holding = 'rev.namespace Fail, hold.rev.namespace Ignore, rev.object Fail, hold.rev.object Ignore';
  /** Installs `blue` with Hold, and waits until the webhook relies on the policy. */
  async function installed(webhook: Record<string, unknown> = {}): Promise<void> {
    await fixture.install('blue', { webhook: { ...hold, ...webhook } });
    await fixture.later(5000, 'blue');
  }
  /** Installs `blue` with Hold, and waits until the caches have the policies, too. */
  async function settled(): Promise<void> {
    await installed();
    await seen();
  }
  /** Runs a pass that waits for the clock. */
  async function passInTime(): Promise<void> {
    await fixture.caughtUp();
    const done: unknown[] = [];
    const pass = fixture.passNow('blue').then((wait) => done.push(wait));
    while (done.length === 0) await fixture.clock.advance(100);
    await pass;
  }
  /** Waits until the caches have the policies of the API server. */
  async function seen(): Promise<void> {
    await fixture.until(() => {
      const cached = [...fixture.view.policies.list(), ...fixture.view.policyBindings.list()];
      const stored = [
        ...policies().map((name) => fixture.cluster.get('mutatingadmissionpolicies', name)),
        ...bindings().map((name) => fixture.cluster.get('mutatingadmissionpolicybindings', name)),
      ];
      const versions = (objects: (typeof cached)[number][]): string =>
        objects
          .map(({ metadata }) => metadata.resourceVersion)
          .sort()
          .join();
      return versions(cached) === versions(stored.flatMap((each) => each ?? []));
    });
  }

  it('writes the policy, shows that it acts, waits, and only then ignores failed calls', async () => {
    await fixture.install('blue', { webhook: hold });
    assert.equal(failurePolicies(), failing);
    assert.deepEqual(policies(), [policy]);
    assert.deepEqual(bindings(), [
      `${policy}.rev.namespace.sidecar-injector.io`,
      `${policy}.rev.object.sidecar-injector.io`,
    ]);
    fixture.says(
      'blue',
      'HoldUnavailable',
      /^True\/HoldSwitching: the policy acts .*; until then spec\.webhook\.fallback \(Fail\) applies to all pods$/,
    );
    await fixture.later(4999, 'blue');
    assert.equal(failurePolicies(), failing);
    await fixture.later(1, 'blue');
    assert.equal(failurePolicies(), holding);
    fixture.says('blue', 'HoldUnavailable', /^False\/HoldActive/);
    const { spec } = fixture.cluster.get('mutatingadmissionpolicies', policy) as unknown as {
      spec: Record<string, unknown>;
    };
    assert.equal(spec.failurePolicy, 'Fail');
    assert.equal(spec.reinvocationPolicy, 'Never');
    assert.ok(JSON.stringify(spec.mutations).includes(gateOf(policy)));
    const order = fixture.cluster.writes.filter(
      (each) => / sidecar-injector-(probe-)?blue$/.test(each) && /polic|webhook|dry/.test(each),
    );
    assert.ok(
      order.findIndex((each) => each.includes('policies sidecar-injector-blue')) <
        order.findIndex((each) => each.includes('policies sidecar-injector-probe-blue')),
    );
  });

  it('keeps the webhook as it is in a new process, which has shown nothing yet', async () => {
    await installed();
    const { length } = fixture.cluster.writes;
    fixture.restart({ holdPods: true });
    await fixture.reconcile('blue');
    assert.equal(failurePolicies(), holding);
    assert.deepEqual(
      fixture.cluster.writes.slice(length).filter((each) => /admission|webhook/.test(each)),
      [],
    );
  });

  it('does not touch the webhooks of tags in a new process before the policies are listed', async () => {
    await installed();
    fixture.cluster.put('revisiontags', {
      apiVersion: 'sidecar-injector.io/v1alpha1',
      kind: 'RevisionTag',
      metadata: { name: 'prod' },
      spec: { revision: 'blue' },
    });
    await fixture.reconcile('blue', 'prod');
    await fixture.later(5000, 'blue');
    await fixture.reconcileTag('prod');
    const tag = (): string =>
      fixture
        .webhooks('tag-prod')
        .map(({ failurePolicy }) => failurePolicy)
        .join();
    assert.equal(tag(), 'Fail,Ignore,Fail,Ignore');
    fixture.restart({ holdPods: true });
    await fixture.reconcileTag('prod');
    assert.equal(tag(), 'Fail,Ignore,Fail,Ignore');
  });

  it('repeats the proof after some minutes, and uses the fallback if the policy acts no more', async () => {
    await settled();
    const proofs = (): number =>
      fixture.cluster.writes.filter((each) => each === 'DELETE mutatingadmissionpolicies sidecar-injector-probe-blue')
        .length;
    await fixture.later(290_000, 'blue');
    assert.equal(proofs(), 1);
    await fixture.later(10_000, 'blue');
    assert.deepEqual([proofs(), failurePolicies()], [2, holding]);
    fixture.cluster.answersProbes = false;
    await fixture.clock.advance(300_000);
    await passInTime();
    assert.equal(failurePolicies(), failing);
    fixture.says('blue', 'HoldUnavailable', /^True\/PolicyInactive/);
    await fixture.clock.advance(1000);
    await passInTime();
    assert.equal(failurePolicies(), failing, 'the policy still acts no more');
  });

  it('uses the fallback when the API server stops serving policies', async () => {
    await settled();
    fixture.cluster.fail((_method, path) => path.includes('mutatingadmissionpolic'), 404, 'NotFound', 'not served');
    await fixture.later(300_000, 'blue');
    assert.equal(failurePolicies(), failing);
    await fixture.later(60_000, 'blue');
    fixture.says('blue', 'HoldUnavailable', /^True\/HoldNotServed/);
  });

  it('uses the fallback even if a changed policy cannot be restored', async () => {
    await settled();
    fixture.cluster.remove('mutatingadmissionpolicies', policy);
    await seen();
    const isRepair = (method: string, path: string): boolean => method === 'PATCH' && path.includes('policies/');
    fixture.cluster.fail(isRepair, 500, 'Broken', 'no', 1);
    await fixture.reconcile('blue');
    assert.equal(failurePolicies(), failing);
  });

  it('uses the fallback while the selectors of the policy change', async () => {
    await settled();
    await fixture.edit('blue', { webhook: { ...hold, excludedNamespaces: ['quiet'] } });
    assert.equal(failurePolicies(), failing);
    const namespaces = (): boolean =>
      JSON.stringify(fixture.cluster.get('mutatingadmissionpolicybindings', bindings()[0]!)).includes('quiet');
    assert.equal(namespaces(), false, 'API servers may still use the old webhook');
    await fixture.later(5000, 'blue');
    await fixture.later(5000, 'blue');
    assert.equal(namespaces(), true);
    await seen();
    await fixture.later(5000, 'blue');
    assert.equal(failurePolicies(), holding);
  });

  const tampered: [string, Record<string, unknown>, boolean][] = [
    ['changed', { matchPolicy: 'Exact' }, true],
    ['added a field to', { excludeResourceRules: [{}] }, false],
  ];
  for (const [what, fields, isRestoredAtOnce] of tampered) {
    it(`restores a binding that another client has ${what}, without a gap, and meanwhile ignores no failed call`, async () => {
      await settled();
      const [name = ''] = bindings();
      const resources = (): Record<string, unknown> =>
        (
          fixture.cluster.get('mutatingadmissionpolicybindings', name)?.spec as {
            matchResources: Record<string, unknown>;
          }
        ).matchResources;
      const original = resources();
      fixture.cluster.edit('mutatingadmissionpolicybindings', name, undefined, (binding) => {
        Object.assign((binding.spec as { matchResources: object }).matchResources, fields);
      });
      await seen();
      const { length } = fixture.cluster.writes;
      await fixture.reconcile('blue');
      assert.equal(failurePolicies(), failing);
      assert.equal(isDeepStrictEqual(resources(), original), isRestoredAtOnce);
      const removals = fixture.cluster.writes.slice(length).filter((each) => /^DELETE .*polic/.test(each));
      assert.deepEqual(removals, []);
      for (let pass = 0; pass < 3; pass += 1) {
        await seen();
        await fixture.later(5000, 'blue');
      }
      assert.deepEqual(resources(), original);
      assert.equal(failurePolicies(), holding);
    });
  }

  it('ignores no failed call without the policy while the spec is invalid, and so cannot be applied', async () => {
    await settled();
    await fixture.edit('blue', { webhook: { ...hold, selection: 'Custom' } });
    assert.equal(failurePolicies(), holding);
    fixture.cluster.remove('mutatingadmissionpolicies', policy);
    await seen();
    await fixture.reconcile('blue');
    assert.equal(failurePolicies(), holding.replaceAll('Ignore', 'Fail'));
  });

  it('stops ignoring failed calls before it removes the policy', async () => {
    await settled();
    await fixture.edit('blue', { webhook: { failurePolicy: 'Fail' } });
    assert.equal(failurePolicies(), failing);
    assert.deepEqual(policies(), [policy]);
    await fixture.later(4999, 'blue');
    assert.deepEqual(policies(), [policy], 'API servers may still use the old webhook');
    await fixture.later(5000, 'blue');
    assert.deepEqual([...policies(), ...bindings()], []);
    fixture.says('blue', 'HoldUnavailable', /^False\/HoldNotUsed/);
  });

  it('removes the policy after the webhook when the InjectorConfig is paused or deleted', async () => {
    await settled();
    await fixture.edit('blue', { paused: true });
    assert.deepEqual([...fixture.webhooks('blue'), ...policies(), ...bindings()], []);
    const removals = fixture.cluster.writes.filter((each) => each.startsWith('DELETE') && !each.includes('probe'));
    assert.deepEqual(
      removals.map((each) => each.split(' ')[1]),
      [
        'mutatingwebhookconfigurations',
        'mutatingadmissionpolicybindings',
        'mutatingadmissionpolicybindings',
        'mutatingadmissionpolicies',
      ],
    );
  });

  it('uses the fallback until every replica removes the gate', async () => {
    fixture.reports.old = ['webhook-1'];
    await installed({ fallback: 'Ignore' });
    assert.equal(failurePolicies(), 'rev.namespace Ignore, rev.object Ignore');
    fixture.says(
      'blue',
      'HoldUnavailable',
      /^True\/HoldSwitching: webhook-1 does not remove the gate of injected pods: upgrade all replicas; until then spec\.webhook\.fallback \(Ignore\)/,
    );
    assert.deepEqual(policies(), []);
  });

  it('reports a policy that the API server does not apply', async () => {
    fixture.cluster.put('injectorconfigs', injectorConfig('blue'));
    await fixture.reconcile('blue');
    fixture.cluster.answersProbes = false;
    fixture.setSpec('blue', { webhook: hold, injection: { templates: { sidecar: template('one') } } });
    await passInTime();
    assert.equal(failurePolicies(), failing);
    fixture.says('blue', 'HoldUnavailable', /^True\/PolicyInactive: .*admission plugin MutatingAdmissionPolicy/);
    assert.ok(!policies().includes('sidecar-injector-probe-blue'), 'the probe is removed');
    await fixture.recorded(/^HoldUnavailable: the API server does not apply/);
  });

  it('reports an API server that refuses the policy, and leaves the webhook with the fallback', async () => {
    const isWrite = (method: string, path: string): boolean => method !== 'GET' && path.includes('admissionpolicies');
    fixture.cluster.fail(isWrite, 422, 'Invalid', 'the expression is too costly');
    await fixture.install('blue', { webhook: hold });
    assert.equal(failurePolicies(), failing);
    fixture.says('blue', 'HoldUnavailable', /^True\/PolicyRefused: the expression is too costly; until then/);
  });

  it('reports an API server without MutatingAdmissionPolicies, and an installation without the flag', async () => {
    fixture.cluster.fail((_method, path) => path.includes('mutatingadmissionpolic'), 404, 'NotFound', 'not served');
    await fixture.install('blue', { webhook: hold });
    fixture.says('blue', 'HoldUnavailable', /^True\/HoldNotServed: .*Kubernetes 1\.36/);
    fixture.restart();
    await fixture.reconcile('blue');
    fixture.says('blue', 'HoldUnavailable', /^True\/HoldDisabled: .*operator\.holdPods/);
    assert.equal(failurePolicies(), failing);
  });
});
