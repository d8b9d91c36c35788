import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { gateOf, replacingAnnotation } from '../../api/names.ts';
import { RevisionFixture } from '../testdata/revision-fixture.ts';

const jobLabel = 'batch.kubernetes.io/controller-uid';
const gate = gateOf('sidecar-injector-blue');
/** How long a process takes to restart, and how long another leader waits for the Lease, in ms. */
const restarts = { 'the same process': 1000, 'another leader': 15_000 };

type Owner = 'ReplicaSet' | 'Job' | undefined;

/** Recoveries of a pod of a Deployment, a pod of a Job, and a bare pod that needs no sidecar. */
class Recovery extends RevisionFixture {
  #round = 0;
  /** The owner of each held pod of this recovery; a Job releases a separated pod. */
  readonly #held = new Map<string, Owner | 'released'>();
  #isNew = true;

  async open(): Promise<void> {
    await this.start({ holdPods: true });
    const labels = { shop: { 'istio.io/rev': 'blue' }, left: {} };
    for (const [name, own] of Object.entries(labels)) {
      const metadata = { name, labels: { ...own, 'kubernetes.io/metadata.name': name } };
      this.cluster.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    }
    await this.install('blue', { webhook: { failurePolicy: 'Hold' } });
    await this.later(5000, 'blue');
    this.reports.live = [{ replica: 'webhook-1', isDraining: false, hashes: [] }];
    this.#isNew = true;
  }

  /** Recovers, kills the leader after the write at `position`, and returns what is wrong. */
  async recover(position = Infinity, restartMs = 0): Promise<string[]> {
    const from = this.performed.length;
    this.isFatal = () => this.performed.length - from === position;
    this.#round += 1;
    this.#held.clear();
    this.#put(`web-${this.#round}`, 'ReplicaSet', [gate]);
    this.#put(`job-${this.#round}`, 'Job', [gate]);
    this.#put(`bare-${this.#round}`, undefined, [gate]);
    const faults: string[] = [];
    for (let quiet = 0, turn = 0; quiet < 3; turn += 1) {
      assert.ok(turn < 100, `pods stay held: ${this.#gated().join(', ')}`);
      const before = this.performed.length;
      await this.#turn(restartMs);
      faults.push(...this.#control());
      quiet = this.#gated().length === 0 && this.performed.length === before ? quiet + 1 : 0;
    }
    const deleted = this.performed.slice(from).flatMap(({ verb, name }) => (verb === 'delete' ? [name] : []));
    const twice = deleted.filter((name, index) => deleted.indexOf(name) !== index);
    const pods = this.cluster.list('pods');
    const separated = pods.filter(({ metadata }) => metadata.annotations?.[replacingAnnotation] !== undefined);
    return [
      ...faults,
      ...twice.map((name) => `${name} was deleted twice`),
      ...separated.map(({ metadata }) => `${metadata.name ?? ''} was left separated`),
      ...(pods.length === 3 * this.#round ? [] : [`${pods.length} pods instead of ${3 * this.#round}`]),
    ];
  }

  async #turn(restartMs: number): Promise<void> {
    const isDue = this.#isNew || this.referenceChanges.splice(0).includes('blue');
    this.#isNew = false;
    await this.watched();
    if (isDue) await this.passNow('blue');
    await this.watched();
    if (!this.signal.aborted) await this.untilKilled(this.reconcilers.keeper.pass(this.signal));
    await this.clock.advance(this.signal.aborted ? restartMs : 250);
    if (!this.signal.aborted) return;
    this.restart({ holdPods: true });
    this.#isNew = true;
  }

  /** Acts as the controllers of ReplicaSets and Jobs. Returns the Jobs that count a failed pod. */
  #control(): string[] {
    const failed: string[] = [];
    for (const [name, owner] of this.#held) {
      const pod = this.cluster.get('pods', name, namespaceOf(owner));
      const isOwn = pod !== undefined && jobLabel in (pod.metadata.labels ?? {});
      if (owner === 'Job' && pod !== undefined && !isOwn) {
        this.cluster.edit('pods', name, 'shop', ({ metadata }) => delete metadata.ownerReferences);
        this.#held.set(name, 'released');
        this.#put(`${name}-new`, 'Job', [], name);
      }
      if (owner === undefined || pod !== undefined) continue;
      this.#held.delete(name);
      if (owner === 'Job') failed.push(`the Job of ${name} counts a failed pod`);
      if (owner === 'ReplicaSet') this.#put(`${name}-new`, owner, [], name);
    }
    return failed;
  }

  #gated(): string[] {
    const isGated = ({ spec }: KubernetesObject): boolean => JSON.stringify(spec).includes(gate);
    return this.cluster.list('pods').flatMap((pod) => (isGated(pod) ? [pod.metadata.name ?? ''] : []));
  }

  #put(name: string, owner: Owner, gates: readonly string[], workload = name): void {
    const uid = `${workload}-owner`;
    const apiVersion = owner === 'Job' ? 'batch/v1' : 'apps/v1';
    const labels = owner === 'Job' ? { app: name, [jobLabel]: uid, 'controller-uid': uid } : { app: name };
    const ownerReferences = owner && [{ apiVersion, kind: owner, name: uid, uid, controller: true }];
    if (gates.length > 0) this.#held.set(name, owner);
    this.cluster.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: namespaceOf(owner), labels, ...(ownerReferences && { ownerReferences }) },
      spec: { containers: [], schedulingGates: gates.map((each) => ({ name: each })) },
      status: { phase: 'Pending' },
    });
  }
}

function namespaceOf(owner: Owner | 'released'): string {
  return owner === undefined ? 'left' : 'shop';
}

describe('the leader is killed after each write of a recovery from failurePolicy Hold', () => {
  const recovery = new Recovery();
  beforeEach(() => recovery.open());
  afterEach(() => recovery.stop());

  it('no pod is deleted twice, no Job fails, no pod is left separated, and each is replaced or released', async () => {
    const from = recovery.performed.length;
    assert.deepEqual(await recovery.recover(), [], 'undisturbed');
    const plan = recovery.performed.slice(from).map(({ verb, resource }) => `${verb} ${resource}`);
    const ofPods = plan.filter((write) => write.endsWith(' pods')).sort();
    assert.deepEqual(ofPods, ['delete pods', 'delete pods', 'patch pods', 'patch pods']);
    for (const [index, write] of plan.entries()) {
      for (const [who, restartMs] of Object.entries(restarts)) {
        const what = `killed after write ${index + 1} (${write}), continued by ${who}`;
        assert.deepEqual(await recovery.recover(index + 1, restartMs), [], what);
      }
    }
  });

  it('negative control: a process that loses a deletion deletes a pod twice', async () => {
    const from = recovery.performed.length;
    await recovery.recover();
    const position = recovery.performed.slice(from).findIndex(({ verb }) => verb === 'delete') + 1;
    let deletions = 0;
    recovery.isLost = ({ verb }) => verb === 'delete' && (deletions += 1) === 1;
    assert.match((await recovery.recover(position, restarts['another leader'])).join(), /was deleted twice/);
  });
});
