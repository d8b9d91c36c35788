import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, settle } from '../../kube/testdata/manual-clock.ts';
import { readReplicaLease, type ServedConfiguration } from './replica-lease.ts';
import { ReplicaReporter } from './replica-reporter.ts';

type Lease = KubernetesObject & { spec: Record<string, unknown> };

/** The Lease of one replica with optimistic locking, as the API server has it. */
class LeaseServer {
  lease: Lease | undefined;
  failure: ApiError | undefined;
  /** Makes a Lease without an answer: whoever asked for it gives up waiting and does not hear of it. */
  isCreatingSilently = false;
  writes = 0;
  deletions = 0;
  #version = 0;

  find<T>(): Promise<T | undefined> {
    return this.#answer(() => structuredClone(this.lease) as T | undefined);
  }
  async create<T>(object: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
    const created = await this.#answer(() => {
      if (this.lease !== undefined) throw new ApiError({ code: 409, reason: 'AlreadyExists', message: 'exists' });
      return this.store(object);
    });
    if (!this.isCreatingSilently) return created;
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    throw new ApiError({ code: 0, reason: 'Aborted', message: 'aborted' });
  }
  replace<T>(object: T): Promise<T> {
    return this.#answer(() => {
      if (this.lease === undefined) throw new ApiError({ code: 404, reason: 'NotFound', message: 'not found' });
      this.#check((object as KubernetesObject).metadata.resourceVersion);
      return this.store(object);
    });
  }
  delete(_: unknown, { resourceVersion }: { resourceVersion?: string | undefined } = {}): Promise<void> {
    return this.#answer(() => {
      this.#check(resourceVersion);
      this.lease = undefined;
      this.deletions += 1;
    });
  }
  store<T>(object: T): T {
    this.#version += 1;
    this.writes += 1;
    const stored = structuredClone(object) as Lease;
    stored.metadata.resourceVersion = String(this.#version);
    this.lease = stored;
    return structuredClone(stored) as T;
  }
  #check(resourceVersion: string | undefined): void {
    if (resourceVersion !== this.lease?.metadata.resourceVersion)
      throw new ApiError({ code: 409, reason: 'Conflict', message: 'modified' });
  }
  async #answer<T>(answer: () => T): Promise<T> {
    if (this.failure !== undefined) throw this.failure;
    return Promise.resolve(answer());
  }
}

describe('ReplicaReporter', () => {
  let server: LeaseServer;
  let clock: ManualClock;
  let reporter: ReplicaReporter;
  let served: Map<string, ServedConfiguration>;
  const logger = capturingLogger();
  const create = (instance = 'a'): ReplicaReporter =>
    new ReplicaReporter({
      client: server,
      namespace: 'injection',
      operatorClass: 'default',
      identity: 'webhook-1',
      instance,
      serves: () => served,
      clock,
      logger,
    });
  const hashes = (): readonly string[] | undefined => readReplicaLease(server.lease!).serves.get('blue')?.hashes;
  const warnings = (): string[] => logger.lines.map(({ message }) => message);
  beforeEach(() => {
    server = new LeaseServer();
    clock = new ManualClock();
    served = new Map();
    logger.lines.length = 0;
    reporter = create();
  });
  const start = async (which = reporter): Promise<void> => {
    which.start();
    await settle();
  };
  /** Its end needs time to pass too. */
  const stop = async (which = reporter): Promise<void> => {
    const stopped = which.stop();
    await settle();
    await stopped;
  };
  afterEach(() => stop());

  it('holds a Lease of its own for 15 s and renews it every 5 s', async () => {
    await start();
    assert.equal(server.lease?.metadata.name, 'injector-replica-webhook-1');
    assert.equal(server.lease.metadata.labels?.['sidecar-injector.io/replica'], 'default');
    assert.deepEqual(server.lease.spec, {
      holderIdentity: 'webhook-1_a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
    });
    await clock.advance(60_000);
    assert.equal(server.writes, 13);
    assert.equal(server.lease.spec['acquireTime'], '2026-01-01T00:00:00.000000Z');
    assert.equal(server.lease.spec['renewTime'], '2026-01-01T00:01:00.000000Z');
  });

  it('tells a change at once, and many changes in one write', async () => {
    await start();
    for (const hash of ['00000001', '00000002', '00000003']) {
      served.set('blue', { hashes: [hash] });
      reporter.changed();
    }
    await clock.advance(100);
    assert.deepEqual([server.writes, hashes()], [2, ['00000003']]);
  });

  it('says that it is leaving, and takes its Lease away in the end', async () => {
    await start();
    reporter.drain();
    await clock.advance(100);
    assert.equal(readReplicaLease(server.lease!).isDraining, true);
    await stop();
    assert.equal(server.lease, undefined);
    assert.deepEqual(warnings(), []);
  });

  it('takes its Lease away although the last write was done without an answer', async () => {
    await start();
    server.store(server.lease!);
    await stop();
    assert.equal(server.lease, undefined);
  });

  it('takes its first Lease away although it was made without an answer', async () => {
    server.isCreatingSilently = true;
    await start();
    assert.notEqual(server.lease, undefined);
    await stop();
    assert.equal(server.lease, undefined);
  });

  it('takes over the Lease of the process before it in the same pod', async () => {
    reporter.start();
    served.set('blue', { hashes: ['00000001'] });
    await settle();
    served = new Map();
    const next = create('b');
    await start(next);
    assert.deepEqual([server.lease?.spec['holderIdentity'], hashes()], ['webhook-1_b', undefined]);
    await stop(next);
    assert.equal(server.deletions, 1);
  });

  it('warns of another process that calls itself the same, and leaves it its Lease in the end', async () => {
    await start();
    server.store({ ...server.lease!, spec: { ...server.lease!.spec, holderIdentity: 'webhook-1_other' } });
    await clock.advance(5000);
    assert.match(warnings().join(), /another process reports as replica webhook-1 too; give each its own --identity/);
    await clock.advance(1000);
    assert.equal(server.lease?.spec['holderIdentity'], 'webhook-1_a', 'the last that writes is believed');
    server.store({ ...server.lease, spec: { ...server.lease.spec, holderIdentity: 'webhook-1_other' } });
    await stop();
    assert.notEqual(server.lease, undefined);
  });

  it('makes its Lease again when somebody deletes it', async () => {
    await start();
    server.lease = undefined;
    await clock.advance(5200);
    assert.notEqual(server.lease, undefined);
    assert.deepEqual(warnings(), []);
  });

  it('says once a minute that it cannot report, with the right that is missing, and goes on trying', async () => {
    server.failure = new ApiError({ code: 403, reason: 'Forbidden', message: 'denied' });
    reporter.start();
    await clock.advance(30_000);
    assert.deepEqual(warnings(), [
      'cannot report what this replica serves; publications wait for it; it needs get, create, update and delete on the Lease of its own pod',
    ]);
    await clock.advance(40_000);
    assert.equal(warnings().length, 2);
    server.failure = undefined;
    await clock.advance(1000);
    assert.notEqual(server.lease, undefined);
  });

  it('warns when its Lease could not be taken away', async () => {
    await start();
    server.failure = new ApiError({ code: 0, reason: 'Unreachable', message: 'down' });
    await stop();
    assert.deepEqual(warnings(), ["the replica's lease was not released; it expires by itself"]);
    server.failure = undefined;
  });

  it('warns when more is served than the Lease can say', async () => {
    for (let index = 0; index < 5000; index += 1) served.set(`n${index}`.padEnd(46, 'x'), { hashes: ['00000000'] });
    await start();
    assert.match(warnings().join(), /serves more than its lease can say/);
  });
});
