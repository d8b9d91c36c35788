import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, settle } from '../../kube/testdata/manual-clock.ts';
import { readReplicaLease, type ServedConfiguration } from './replica-lease.ts';
import { createReplicaReporter } from './replica-reporter.ts';

type Lease = KubernetesObject & { spec: Record<string, unknown> };

/** A fake API server for the Lease of one replica, with optimistic locking. */
class LeaseServer {
  lease: Lease | undefined;
  failure: ApiError | undefined;
  /** Whether creations succeed but are not answered, so that the client times out. */
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

describe('createReplicaReporter', () => {
  let server: LeaseServer;
  let clock: ManualClock;
  let reporter: ReturnType<typeof create>;
  let served: Map<string, ServedConfiguration>;
  const logger = capturingLogger();
  const create = (instance = 'a') =>
    createReplicaReporter({
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
  /** Stops a reporter and waits for its last requests. */
  const stop = async (which = reporter): Promise<void> => {
    const stopped = which.stop();
    await settle();
    await stopped;
  };
  afterEach(() => stop());

  it('holds its own Lease for 15 s and renews it every 5 s', async () => {
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

  it('reports a change immediately, and several changes in one write', async () => {
    await start();
    for (const hash of ['00000001', '00000002', '00000003']) {
      served.set('blue', { hashes: [hash] });
      reporter.changed();
    }
    await clock.advance(100);
    assert.deepEqual([server.writes, hashes()], [2, ['00000003']]);
  });

  it('reports that it is draining, and deletes its Lease when it stops', async () => {
    await start();
    reporter.drain();
    await clock.advance(100);
    assert.equal(readReplicaLease(server.lease!).isDraining, true);
    await stop();
    assert.equal(server.lease, undefined);
    assert.deepEqual(warnings(), []);
  });

  it('deletes its Lease even if the answer to its last write was lost', async () => {
    await start();
    server.store(server.lease!);
    await stop();
    assert.equal(server.lease, undefined);
  });

  it('deletes its Lease even if the answer to its creation was lost', async () => {
    server.isCreatingSilently = true;
    await start();
    assert.notEqual(server.lease, undefined);
    await stop();
    assert.equal(server.lease, undefined);
  });

  it('takes over the Lease of the previous process in the same pod', async () => {
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

  it('warns of another process with the same identity, and does not delete the Lease of that process', async () => {
    await start();
    server.store({ ...server.lease!, spec: { ...server.lease!.spec, holderIdentity: 'webhook-1_other' } });
    await clock.advance(5000);
    assert.match(warnings().join(), /process also reports as replica webhook-1; give each process its own --identity/);
    await clock.advance(1000);
    assert.equal(server.lease?.spec['holderIdentity'], 'webhook-1_a', 'the last write wins');
    server.store({ ...server.lease, spec: { ...server.lease.spec, holderIdentity: 'webhook-1_other' } });
    await stop();
    assert.notEqual(server.lease, undefined);
  });

  it('recreates its Lease after another client deletes it', async () => {
    await start();
    server.lease = undefined;
    await clock.advance(5200);
    assert.notEqual(server.lease, undefined);
    assert.deepEqual(warnings(), []);
  });

  it('logs once a minute that it cannot report and which permission is missing, and retries', async () => {
    server.failure = new ApiError({ code: 403, reason: 'Forbidden', message: 'denied' });
    reporter.start();
    await clock.advance(30_000);
    assert.deepEqual(warnings(), [
      'cannot write the Lease of this replica, so publications wait; the replica needs get, create, update and delete on the Lease of its own pod',
    ]);
    await clock.advance(40_000);
    assert.equal(warnings().length, 2);
    server.failure = undefined;
    await clock.advance(1000);
    assert.notEqual(server.lease, undefined);
  });

  it('warns when it cannot delete its Lease', async () => {
    await start();
    server.failure = new ApiError({ code: 0, reason: 'Unreachable', message: 'down' });
    await stop();
    assert.deepEqual(warnings(), ["the replica's Lease was not deleted; it expires automatically"]);
    server.failure = undefined;
  });

  it('warns when the served configurations do not fit in the Lease', async () => {
    for (let index = 0; index < 5000; index += 1) served.set(`n${index}`.padEnd(46, 'x'), { hashes: ['00000000'] });
    await start();
    assert.match(warnings().join(), /serves more configurations than fit in its Lease/);
  });
});
