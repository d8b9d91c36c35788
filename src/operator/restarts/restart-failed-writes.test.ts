import assert from 'node:assert/strict';
import { bounds, RestartFixture } from './testdata/restart-fixture.ts';

describe('restarts that cannot be written', () => {
  const fixture = new RestartFixture();
  /** The attempted writes of workloads, with the time in seconds. */
  let tries: { readonly name: string; readonly at: number }[];
  beforeEach(() => {
    tries = [];
  });
  afterEach(() => fixture.stop());

  const current = (): string => `old.${fixture.hash('old')}`;
  const two = { restart: { ...bounds, maxUnavailableWorkloads: 2, perNamespace: 2 } };
  type Answer = readonly [code: number, reason: string, message: string];
  /** Makes the API server answer writes of matching workloads with an error. */
  const faulty = (isFaulty: (name: string) => boolean, answer: Answer, times?: number): void => {
    const matches = (method: string, path: string): boolean => {
      const name = /\/namespaces\/[^/]+\/deployments\/([^/]+)$/.exec(path)?.[1];
      if (method !== 'PATCH' || name === undefined || !isFaulty(name)) return false;
      tries.push({ name, at: fixture.clock.monotonic() / 1000 });
      return true;
    };
    fixture.cluster.fail(matches, ...answer, times);
  };
  const broken = [500, 'InternalError', 'Internal error occurred: out of order'] as const;
  const modified = [409, 'Conflict', 'modified'] as const;
  const refused = [403, 'Forbidden', 'policy says no'] as const;
  const tried = (): string => tries.map(({ name }) => name).join(' ');
  const failures = (): string[] => fixture.eventsOfWorkloads().filter((each) => each.includes(' RestartFailed: '));
  const waiting = (): string[] => (fixture.status()?.waiting ?? []).map(({ name, reason }) => `${name} ${reason}`);

  it('do not block other workloads, are retried with their own back-off, and are reported', async () => {
    await fixture.begin(two);
    fixture.workloads('a', 'b', 'c');
    faulty((name) => name === 'a', broken);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    // The write may have succeeded, so it counts against the bound of two for a minute.
    assert.deepEqual(waiting(), ['a Failed', 'c Bound']);
    assert.match(fixture.status()?.waiting[0]?.message ?? '', /out of order/);
    const counts = { stale: 3, restarting: 1, waiting: 2, failing: 1, untouched: 0 };
    assert.deepEqual(fixture.figures.get('prod'), { phase: 'Restarting', counts });
    await fixture.until(() => failures().length > 0);
    assert.match(
      failures()[0] ?? '',
      /^a RestartFailed: the restart for RevisionTag prod .* failed and is retried.*out of order/,
    );

    fixture.completes('b', current());
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b', 'PATCH deployments c']);
    fixture.completes('c', current());
    for (const wait of [5, 20, 80]) {
      await fixture.clock.advance(wait * 500);
      const { length } = tries;
      await fixture.passUntil(() => tries.length > length);
    }
    const gaps = tries.map(({ at }, index) => at - (tries[index - 1]?.at ?? at)).slice(1);
    for (const [index, least] of [5, 20, 80].entries()) {
      assert.ok((gaps[index] ?? 0) >= least && (gaps[index] ?? 0) < least + 2, `seconds between tries: ${gaps.join()}`);
    }
    fixture.cluster.faults.splice(0);
    await fixture.clock.advance(320_000);
    await fixture.passUntil(() => fixture.restarts.length > 2);
    assert.equal(fixture.figures.get('prod')?.counts.failing, 0);
  });

  it('are never repeated if only the response was lost, and count against the bounds', async () => {
    await fixture.begin();
    fixture.workloads('web', 'zoo');
    fixture.cluster.faults.push({
      matches: (method, path, body) => {
        if (method !== 'PATCH' || !path.endsWith('/deployments/web')) return false;
        const { spec } = JSON.parse(body) as { spec: { template: { metadata: { annotations: object } } } };
        fixture.cluster.edit('deployments', 'web', 'shop', (object) => {
          Object.assign((object.spec as typeof spec).template.metadata, spec.template.metadata);
        });
        return true;
      },
      answer: (response) => {
        response.destroy();
      },
      // On a connection that was used before, the client sends the same request once more.
      times: 2,
    });
    await fixture.passUntil(() => fixture.restarted('web') !== undefined);
    const written = fixture.restarted('web');
    await fixture.passUntil(() => fixture.status()?.phase === 'Restarting');
    await fixture.passOn();
    assert.equal(fixture.restarted('web'), written);
    assert.deepEqual(fixture.restarts, []);
    fixture.completes('web', current());
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments zoo']);
  });

  it('count against the bounds for a minute if the result is unknown', async () => {
    await fixture.begin();
    fixture.workloads('a', 'b');
    faulty((name) => name === 'a', broken);
    await fixture.passUntil(() => tries.length >= 3);
    assert.deepEqual(fixture.restarts, []);
    await fixture.clock.advance(55_000);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b']);
    assert.equal(tries.length, 3, 'the back-off now exceeds a minute');
    const waited = fixture.clock.monotonic() / 1000 - (tries.at(-1)?.at ?? 0);
    assert.ok(waited >= 60, `${waited} seconds after the last attempt`);
  });

  it('are planned again after a conflict with another writer', async () => {
    await fixture.begin(two);
    fixture.workloads('a', 'b');
    faulty((name) => name === 'a', modified, 1);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b'], 'other workloads do not wait');
    assert.deepEqual(waiting(), ['a Conflict']);
    assert.equal(fixture.figures.get('prod')?.counts.failing, 0, 'a conflict is not a failure');
    await fixture.passUntil(() => fixture.restarts.length > 1);
    await fixture.until(() => fixture.eventsOfWorkloads().some((each) => each.startsWith('a Restarted:')));
    assert.deepEqual(failures(), []);
  });

  it('count against the bounds after a conflict until the watch delivers the other write', async () => {
    await fixture.begin();
    fixture.workloads('a', 'b');
    faulty((name) => name === 'a', modified, 1);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments a']);
  });

  it('are retried after a minute if the API server rejects them', async () => {
    await fixture.begin();
    fixture.workloads('a', 'b');
    faulty((name) => name === 'a', refused);
    await fixture.passUntil(() => fixture.restarts.length > 0);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b']);
    const waits = fixture.status()?.waiting.map(({ name, reason, message }) => [name, reason, message]);
    assert.deepEqual(waits, [['a', 'Refused', 'policy says no']]);
    fixture.completes('b', current());
    await fixture.passOn();
    assert.equal(tries.length, 1);
    fixture.cluster.faults.splice(0);
    await fixture.clock.advance(60_000);
    await fixture.passUntil(() => fixture.restarts.length > 1);
    assert.deepEqual(fixture.restarts, ['PATCH deployments b', 'PATCH deployments a']);
  });

  it('come after other namespaces if many restarts in their namespace fail', async () => {
    await fixture.begin();
    fixture.namespace('attic', 'prod');
    for (let index = 0; index < 6; index += 1) fixture.workload(`a${index}`, undefined, 'Deployment', 'attic');
    const others = ['web0', 'web1', 'web2', 'web3', 'web4'];
    fixture.workloads(...others);
    faulty((name) => name.startsWith('a'), refused);
    for (const [index, name] of others.entries()) {
      await fixture.passUntil(() => fixture.restarts.length > index);
      fixture.completes(name, current());
    }
    assert.equal(tried(), 'a0 a1 a2', 'in turns, until three have failed');
    await fixture.passUntil(() => tries.length >= 6);
    assert.equal(tried(), 'a0 a1 a2 a3 a4 a5', 'they are still tried');
  });

  it('end the pass if the API server asks clients to slow down', async () => {
    await fixture.begin(two);
    fixture.workloads('a', 'b');
    faulty(() => true, [429, 'TooManyRequests', 'slow down'], 1);
    const passing = fixture.passUntil(() => false);
    await assert.rejects(passing, /slow down/);
    assert.equal(tried(), 'a');
    await fixture.passUntil(() => fixture.restarts.length === 2);
  });
});
