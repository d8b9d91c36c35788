import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { ApiError } from './api-error.ts';
import { createLeaseElector } from './lease-elector.ts';
import type { RequestOptions } from './api-client.ts';
import { capturingLogger } from './testdata/capturing-logger.ts';
import { ManualClock, settle } from './testdata/manual-clock.ts';

type Lease = KubernetesObject & { spec: Record<string, unknown> };

/** One Lease with optimistic locking, as in the API server. */
class LeaseServer {
  lease: Lease | undefined;
  down = false;
  /** Whether requests stay unanswered until they are aborted. */
  isHanging = false;
  writes = 0;
  #version = 0;

  find<T>(_resource: unknown, _name: string, { signal }: RequestOptions = {}): Promise<T | undefined> {
    if (this.isHanging) {
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new Error('given up'));
        });
      });
    }
    return this.down ? refuse(0, 'Unreachable') : Promise.resolve(structuredClone(this.lease) as T | undefined);
  }

  create<T>(object: T): Promise<T> {
    return this.lease === undefined ? this.#store(object) : refuse(409, 'AlreadyExists');
  }

  replace<T>(object: T): Promise<T> {
    const { resourceVersion } = (object as KubernetesObject).metadata;
    return resourceVersion === this.lease?.metadata.resourceVersion ? this.#store(object) : refuse(409, 'Conflict');
  }

  get holder(): unknown {
    return this.lease?.spec.holderIdentity;
  }

  #store<T>(object: T): Promise<T> {
    if (this.down) return refuse(0, 'Unreachable');
    this.#version += 1;
    this.writes += 1;
    const stored = structuredClone(object) as Lease;
    stored.metadata.resourceVersion = String(this.#version);
    this.lease = stored;
    return Promise.resolve(structuredClone(stored) as T);
  }
}

const refuse = (code: number, reason: string): Promise<never> =>
  Promise.reject(new ApiError({ code, reason, message: reason }));

class Candidate {
  leading = false;
  terms = 0;
  readonly logger = capturingLogger();
  readonly holders: string[] = [];
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;
  readonly elector: ReturnType<typeof createLeaseElector>;

  constructor(server: LeaseServer, clock: ManualClock, identity: string, timeScale = 1) {
    this.elector = createLeaseElector({
      client: server,
      namespace: 'n',
      name: 'leader',
      identity,
      clock,
      random: () => 0,
      logger: this.logger,
      timeScale,
      onHolder: (holder) => this.holders.push(holder),
    });
    this.#run = this.elector.run(this.#stop.signal, async (leading) => {
      this.leading = true;
      this.terms += 1;
      await new Promise<void>((resolve) => {
        leading.addEventListener('abort', () => {
          resolve();
        });
      });
      this.leading = false;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }
}

describe('createLeaseElector', () => {
  let server: LeaseServer;
  let clock: ManualClock;
  let candidates: Candidate[];
  beforeEach(() => {
    server = new LeaseServer();
    clock = new ManualClock();
    candidates = [];
  });
  afterEach(async () => {
    await Promise.all(candidates.map((candidate) => candidate.stop()));
  });
  const join = async (identity: string, timeScale?: number): Promise<Candidate> => {
    const candidate = new Candidate(server, clock, identity, timeScale);
    candidates.push(candidate);
    await settle();
    return candidate;
  };

  it('leads immediately when the Lease is free, and renews every 2 s', async () => {
    const one = await join('one');
    assert.equal(one.leading, true);
    const [acquireTime, renewTime] = ['2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:06.000000Z'];
    const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, acquireTime, leaseTransitions: 0 };
    assert.deepEqual(server.lease?.spec, { ...spec, renewTime: acquireTime });
    await clock.advance(6000);
    assert.equal(server.writes, 4);
    assert.deepEqual(server.lease.spec, { ...spec, renewTime });
  });

  it('stops holding the lease at the renew deadline, even before any timer runs', async () => {
    const one = await join('one');
    const two = await join('two');
    assert.deepEqual([one.elector.holds, two.elector.holds], [true, false]);
    server.down = true;
    await clock.advance(9999);
    assert.equal(one.elector.holds, true);
    // While the process is suspended, its clock advances but its timers do not fire.
    clock.sleep(1);
    assert.deepEqual([one.elector.holds, one.leading], [false, true]);
    server.down = false;
    await clock.advance(2000);
    assert.equal(one.elector.holds, true);
    await one.stop();
    assert.equal(one.elector.holds, false);
  });

  it('divides the durations by its time scale', async () => {
    await join('one', 3);
    const two = await join('two', 3);
    assert.equal(server.lease?.spec.leaseDurationSeconds, 5);
    server.lease = { ...server.lease, spec: { ...server.lease.spec, holderIdentity: 'gone' } };
    await clock.advance(5000);
    assert.equal(two.leading, false);
    await clock.advance(1400);
    assert.equal(server.holder === 'gone', false);
  });

  it('waits while another candidate leads, and takes over when that candidate stops', async () => {
    const one = await join('one');
    const two = await join('two');
    await clock.advance(60_000);
    assert.deepEqual([one.leading, two.leading], [true, false]);
    assert.deepEqual(two.holders, ['one']);
    await one.stop();
    assert.equal(server.holder, '');
    assert.equal(server.lease?.spec.leaseDurationSeconds, 1);
    await clock.advance(2000);
    assert.equal(two.leading, true);
    assert.equal(server.lease.spec.leaseTransitions, 1);
  });

  it('takes over from a vanished leader 15 s after its last observed renewal, regardless of renewTime', async () => {
    server.lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader', namespace: 'n', resourceVersion: 'x' },
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' },
    };
    const one = await join('one');
    await clock.advance(14_000);
    assert.equal(one.leading, false);
    await clock.advance(2000);
    assert.equal(one.leading, true);
  });

  it('stops leading after 10 s without a renewal, before another candidate can start, and leads again later', async () => {
    const one = await join('one');
    server.down = true;
    await clock.advance(9900);
    assert.equal(one.leading, true);
    await clock.advance(100);
    assert.equal(one.leading, false);
    server.down = false;
    await clock.advance(2000);
    assert.deepEqual([one.leading, one.terms], [true, 2]);
  });

  it('stops leading at the deadline when requests hang and timers fire slightly early, as in Node', async () => {
    class EarlyClock extends ManualClock {
      override after(milliseconds: number, callback: () => void): () => void {
        return super.after(milliseconds - 0.5, callback);
      }
    }
    clock = new EarlyClock();
    const one = await join('one');
    server.isHanging = true;
    await clock.advance(9900);
    assert.equal(one.leading, true);
    await clock.advance(100);
    assert.equal(one.leading, false);
    server.isHanging = false;
  });

  it('stops leading when another candidate has taken the lease', async () => {
    const one = await join('one');
    const { metadata, spec, ...lease } = server.lease!;
    const stolen = { ...spec, holderIdentity: 'thief' };
    server.lease = { ...lease, metadata: { ...metadata, resourceVersion: 'y' }, spec: stolen };
    await clock.advance(2000);
    assert.equal(one.leading, false);
    await one.stop();
    assert.equal(server.holder, 'thief');
  });

  it('lets only one of two simultaneous candidates lead', async () => {
    const one = new Candidate(server, clock, 'one');
    const two = new Candidate(server, clock, 'two');
    candidates.push(one, two);
    await settle();
    assert.equal([one, two].filter(({ leading }) => leading).length, 1);
    assert.ok([...one.logger.lines, ...two.logger.lines].every(({ level }) => level === 'info'));
  });

  it('logs that it could not release the lease', async () => {
    const one = await join('one');
    server.down = true;
    await one.stop();
    assert.ok(one.logger.lines.some(({ message }) => message.startsWith('the lease was not released')));
  });
});
