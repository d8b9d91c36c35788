import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { ApiClient } from './api-client.ts';
import { ObjectStore } from './object-store.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { resourceKind } from './resource-kinds.ts';
import { capturingLogger } from './testdata/capturing-logger.ts';
import { failure, FakeApiServer, json, type FakeRequest } from './testdata/fake-api-server.ts';
import { ManualClock, until } from './testdata/manual-clock.ts';

const configMaps = resourceKind('v1', 'ConfigMap');
const isWatch = ({ query }: FakeRequest): boolean => query.get('watch') === 'true';

function item(name: string, resourceVersion: string) {
  return { metadata: { name, namespace: 'n', resourceVersion, managedFields: [{}] } };
}

function list(response: ServerResponse, resourceVersion: string, items: unknown[], more = ''): void {
  json(response, 200, { kind: 'List', metadata: { resourceVersion, continue: more }, items });
}

function send(response: ServerResponse, type: string, object: unknown): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`${JSON.stringify({ type, object })}\n`);
}

/** A reflector with a scripted server and a manual clock; each delay is a pending timer. */
class Fixture {
  readonly clock = new ManualClock();
  readonly store = new ObjectStore();
  readonly logger = capturingLogger();
  readonly ended: string[] = [];
  readonly listed: number[] = [];
  recoveries = 0;
  readonly server = new FakeApiServer(() => undefined);
  readonly #stop = new AbortController();
  #client: ApiClient | undefined;
  #run: Promise<void> | undefined;

  async start(options: Partial<ReflectorOptions<never>> = {}): Promise<void> {
    await this.server.start();
    this.#client = new ApiClient(this.server.kubeConfig());
    const reflector = new Reflector({
      client: this.#client,
      resource: configMaps,
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      logger: this.logger,
      observer: {
        watchEnded: (_plural, reason) => this.ended.push(reason),
        listed: (_plural, objects) => this.listed.push(objects),
      },
      onRecovered: () => (this.recoveries += 1),
      ...(options as object),
    });
    this.#run = reflector.run(this.#stop.signal);
  }

  names(): string[] {
    return this.store.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
    this.#client?.close();
    await this.server.stop();
  }
}

describe('Reflector', () => {
  let fixture: Fixture;
  beforeEach(() => {
    fixture = new Fixture();
  });
  afterEach(() => fixture.stop());

  const watches = (): FakeRequest[] => fixture.server.requests.filter(isWatch);
  const lists = (): FakeRequest[] => fixture.server.requests.filter((request) => !isWatch(request));

  type Answer = (response: ServerResponse) => void;
  const empty: Answer = (response) => {
    list(response, '10', []);
  };
  /** Answers each watch with the next function of `onWatch`; the last function repeats. */
  function script(onList: Answer, ...onWatch: Answer[]): void {
    fixture.server.answerWith((request, response) => {
      if (isWatch(request)) (onWatch[watches().length - 1] ?? onWatch.at(-1))?.(response);
      else onList(response);
    });
  }
  const sends =
    (type: string, name: string, version: string): Answer =>
    (response) => {
      send(response, type, item(name, version));
    };
  const fails =
    (...how: [code: number, reason: string, message: string]): Answer =>
    (response) => {
      failure(response, ...how);
    };
  const silent: Answer = () => undefined;
  /** Waits for the pause that follows the given number of ended watches. */
  const paused = (ended = 1): Promise<void> =>
    until(() => fixture.ended.length === ended && fixture.clock.pending().length === 1);

  it('lists page by page, then watches from that resourceVersion and updates the store', async () => {
    let stream: ServerResponse | undefined;
    fixture.server.answerWith((request, response) => {
      if (isWatch(request)) {
        send(response, 'MODIFIED', item('a', '11'));
        stream = response;
      } else if (request.query.get('continue') === null)
        list(response, '10', [item('a', '1'), item('b', '2')], 'page2');
      else list(response, '10', [item('c', '3')]);
    });
    await fixture.start({ pageSize: 2, namespace: 'n', labelSelector: 'x=y', fieldSelector: 'metadata.name=a' });
    await until(() => fixture.names().includes('a@11'));
    assert.deepEqual(fixture.listed, [3]);
    send(stream!, 'DELETED', item('b', '12'));
    send(stream!, 'ADDED', item('d', '13'));
    await until(() => fixture.names().join() === 'a@11,c@3,d@13');
    const [first, second] = lists();
    assert.equal(first!.path, '/api/v1/namespaces/n/configmaps');
    const selectors = { labelSelector: 'x=y', fieldSelector: 'metadata.name=a' };
    assert.deepEqual(Object.fromEntries(first!.query), { limit: '2', ...selectors });
    assert.equal(second!.query.get('continue'), 'page2');
    assert.deepEqual(Object.fromEntries(watches()[0]!.query), {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '10',
      timeoutSeconds: '38',
      ...selectors,
    });
    assert.equal(fixture.store.get('d', 'n')?.metadata.managedFields, undefined);
    assert.equal(fixture.store.get('c', 'n')?.kind, 'ConfigMap');
  });

  it('resumes from the last bookmark without a new list when the server ends the watch', async () => {
    const bookmark: Answer = (response) => {
      send(response, 'BOOKMARK', { metadata: { resourceVersion: '50' } });
      response.end();
    };
    script(empty, bookmark, silent);
    await fixture.start();
    await until(() => watches().length === 2);
    assert.equal(watches()[1]!.query.get('resourceVersion'), '50');
    assert.equal(lists().length, 1);
    assert.deepEqual(fixture.ended, ['Timeout']);
    assert.deepEqual(fixture.names(), []);
  });

  it('backs off when watches end as soon as they start', async () => {
    script(empty, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end();
    });
    await fixture.start();
    for (const delay of [75, 150, 300]) {
      // Skips the deadline of the watch itself.
      await until(() => (fixture.clock.pending()[0] ?? 48_000) < 48_000);
      assert.deepEqual(fixture.clock.pending(), [delay]);
      await fixture.clock.advance(delay);
    }
  });

  const expired = { code: 410, reason: 'Expired', message: 'too old resource version' };
  const asEvent: Answer = (response) => {
    send(response, 'ERROR', { kind: 'Status', ...expired });
    response.end();
  };
  for (const [how, answer] of [
    ['reported as an event', asEvent],
    ['reported as a status', fails(410, expired.reason, expired.message)],
  ] as const) {
    it(`lists again after a random delay when its resourceVersion has expired (${how})`, async () => {
      const onList: Answer = (response) => {
        if (lists().length === 1) list(response, '10', [item('a', '1')]);
        else list(response, '90', [item('b', '80')]);
      };
      script(onList, answer, sends('BOOKMARK', '', '91'));
      await fixture.start();
      await paused();
      assert.deepEqual(fixture.ended, ['Expired']);
      assert.deepEqual(fixture.clock.pending(), [500]);
      await fixture.clock.advance(500);
      await until(() => watches().length === 2);
      assert.deepEqual(fixture.names(), ['b@80']);
      assert.equal(watches()[1]!.query.get('resourceVersion'), '90');
    });
  }

  it('retries errors with a back-off of at most 2 s, logs one line, and reports the recovery', async () => {
    let broken = true;
    fixture.server.answerWith((request, response) => {
      if (broken) failure(response, 500, 'InternalError', 'etcd is away');
      else if (!isWatch(request)) list(response, '10', [item('a', '1')]);
    });
    await fixture.start();
    const delays: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      await until(() => fixture.clock.pending().length === 1);
      const [delay = 0] = fixture.clock.pending();
      delays.push(delay);
      if (turn === 7) broken = false;
      await fixture.clock.advance(delay);
    }
    assert.deepEqual(delays, [75, 150, 300, 600, 1200, 1500, 1500, 1500]);
    await until(() => fixture.store.hasSynced);
    assert.equal(fixture.recoveries, 1);
    const warnings = fixture.logger.lines.filter(({ level }) => level === 'warn');
    assert.equal(warnings.length, 1);
    assert.match(String(warnings[0]!.fields?.error), /etcd is away/);
  });

  it('names the CustomResourceDefinition when a collection of an API group is not served', async () => {
    script(fails(404, 'NotFound', 'the server could not find the requested resource'));
    await fixture.start({ resource: resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig') });
    await until(() => fixture.logger.lines.length === 1);
    const { message } = fixture.logger.lines[0]!;
    assert.match(message, /injectorconfigs; retrying; check that its CustomResourceDefinition is installed/);
  });

  it('waits as long as Retry-After says, but at most 2 s', async () => {
    fixture.server.answerWith((_request, response) => {
      const after = fixture.server.requests.length === 1 ? '1' : '60';
      failure(response, 429, 'TooManyRequests', 'slow down', { 'retry-after': after });
    });
    await fixture.start();
    await until(() => fixture.clock.pending().length === 1);
    assert.deepEqual(fixture.clock.pending(), [1000]);
    await fixture.clock.advance(1000);
    await until(() => fixture.clock.pending().length === 1);
    assert.deepEqual(fixture.clock.pending(), [2000]);
  });

  it('resumes from the last resourceVersion when the server or the connection fails', async () => {
    const breaks: Answer = (response) => {
      send(response, 'ADDED', item('a', '11'));
      setTimeout(() => response.destroy(), 5);
    };
    script(empty, breaks, fails(503, 'ServiceUnavailable', 'starting'), sends('ADDED', 'b', '12'));
    await fixture.start();
    for (const count of [1, 2]) {
      await paused(count);
      await fixture.clock.advance(2000);
    }
    await until(() => fixture.names().includes('b@12'));
    const versions = watches().map(({ query }) => query.get('resourceVersion'));
    assert.deepEqual(versions, ['10', '11', '11']);
    assert.equal(lists().length, 1);
    assert.deepEqual(fixture.ended, ['Error', 'Error']);
    assert.equal(fixture.recoveries, 1);
  });

  it('reports the recovery when the server accepts a watch, even if no event follows', async () => {
    script(empty, fails(503, 'ServiceUnavailable', 'starting'), (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    });
    await fixture.start();
    await paused();
    assert.equal(fixture.recoveries, 0);
    await fixture.clock.advance(2000);
    await until(() => fixture.recoveries === 1);
    assert.equal(lists().length, 1);
  });

  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] };
  const relists: Record<string, Answer> = {
    'the permission to watch is revoked': fails(403, 'Forbidden', 'no'),
    'the response cannot be parsed': (response) => {
      response.writeHead(200).end('<html>\n');
    },
    'the resourceVersion is too new (etcd was restored from a backup)': (response) => {
      json(response, 504, { code: 504, reason: 'Timeout', message: 'too large', details });
    },
  };
  for (const [what, answer] of Object.entries(relists)) {
    it(`lists again when ${what}`, async () => {
      const onList: Answer = (response) => {
        list(response, String(10 * lists().length), []);
      };
      script(onList, answer, silent);
      await fixture.start();
      await paused();
      await fixture.clock.advance(2000);
      await until(() => watches().length === 2);
      assert.equal(watches()[1]!.query.get('resourceVersion'), '20');
    });
  }

  it('detects a hung watch and resumes', async () => {
    script(empty, sends('ADDED', 'a', '11'), sends('ADDED', 'b', '12'));
    await fixture.start();
    await until(() => fixture.names().includes('a@11'));
    await fixture.clock.advance(47_999);
    assert.deepEqual(fixture.ended, []);
    await fixture.clock.advance(1);
    await until(() => fixture.names().includes('b@12'));
    assert.deepEqual(fixture.ended, ['Hung']);
    assert.equal(watches()[1]!.query.get('resourceVersion'), '11');
    assert.equal(lists().length, 1);
  });

  it('pauses between pages when pagePauseMs is set', async () => {
    fixture.server.answerWith((request, response) => {
      if (isWatch(request)) send(response, 'BOOKMARK', item('', '10'));
      else if (request.query.get('continue') === null) list(response, '10', [item('a', '1')], 'page2');
      else list(response, '10', [item('b', '2')]);
    });
    await fixture.start({ pageSize: 1, pagePauseMs: 20 });
    await until(() => fixture.clock.pending().includes(20));
    assert.equal(lists().length, 1);
    // The store takes over each page immediately, but is synced only after the last page.
    assert.deepEqual(fixture.names(), ['a@1']);
    assert.equal(fixture.store.hasSynced, false);
    await fixture.clock.advance(20);
    await until(() => watches().length > 0);
    assert.deepEqual(fixture.names(), ['a@1', 'b@2']);
  });

  it('restarts the list when a continue token expires between two pages', async () => {
    fixture.server.answerWith((request, response) => {
      if (isWatch(request)) return;
      if (request.query.get('continue') !== null) failure(response, 410, 'Expired', 'the continue token is too old');
      else if (lists().length === 1) list(response, '10', [item('a', '1')], 'more');
      else list(response, '20', [item('a', '1'), item('b', '2')]);
    });
    await fixture.start();
    await until(() => fixture.clock.pending().length === 1);
    assert.equal(fixture.store.hasSynced, false);
    await fixture.clock.advance(1000);
    await until(() => fixture.store.hasSynced);
    assert.deepEqual(fixture.names(), ['a@1', 'b@2']);
  });

  it('ends when aborted, even during a pause', async () => {
    script(fails(500, 'InternalError', 'no'));
    await fixture.start();
    await until(() => fixture.clock.pending().length === 1);
    await fixture.stop();
    assert.deepEqual(fixture.clock.pending(), []);
    fixture = new Fixture();
    await fixture.start();
  });
});
