import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { loadInjector } from '../../inject/injector.ts';
import { configurationFiles } from '../../manifests/configuration-files.ts';
import { withPathProbe } from '../../server/admission/path-probe-route.ts';
import { revisionRoute } from '../../server/admission/pod-routes.ts';
import { validateRoute } from '../../server/admission/validate-route.ts';
import { hostileClasses } from '../../server/testdata/hostile/classes.ts';
import { HostileClient, openTls } from '../../server/testdata/hostile/client.ts';
import { hostileTemplate, Materials, type HostileTarget } from '../../server/testdata/hostile/materials.ts';
import { answeredReview } from '../../server/testdata/reviews.ts';
import { postHead, serverName, startTestServer } from '../../server/testdata/test-server.ts';
import { mainThreadLimits } from '../../server/worker/limits.ts';
import { ReviewWorker } from '../../server/worker/review-worker.ts';
import { createLogger } from '../logger.ts';
import { validateReview } from './validate-review.ts';

/** `make gates GATE=hostile-input` sends 10,000 requests of each class to an operator's process. */
const requestsPerClass = 20;
const clients = 6;
/** The slow connections must not time out before the silent connections take their place. */
const limits = { maxUnprovenConnections: 40, bodyTimeout: 300_000 };
const slowConnections = 30;
const silentConnections = 20;
const healthyConnections = 5;

const load = (files: ConfigurationFiles) =>
  Promise.resolve().then(() => loadInjector(files, { limits: mainThreadLimits }));

/** Starts a server with the routes of the operator, and with its log. */
async function startServer(lines: string[]) {
  const logger = createLogger('info', 'text');
  const [transport] = logger.transports;
  assert.ok(transport);
  transport.log = (info: Record<symbol, unknown>, next: () => void) => {
    lines.push(String(info[Symbol.for('message')]));
    next();
  };
  const spec = { injection: { templates: { sidecar: hostileTemplate } } };
  const metadata = { name: 'hostile-target' };
  const config = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata, spec };
  const files = configurationFiles(parseInjectorConfig(config));
  const hash = configurationHash(files);
  const injectors = new Map([[`${metadata.name}.${hash}`, await load(files)]]);
  // Here, a thread first compiles TypeScript, which takes seconds on a busy machine.
  const bounds = { deadline: 30_000 };
  const worker = new ReviewWorker({ log: logger, clock: () => performance.now(), bounds });
  const server = await startTestServer({
    limits,
    logger,
    revisions: withPathProbe(revisionRoute(injectors, { worker }), 'replica'),
    routes: [validateRoute((request) => validateReview(load, request))],
  });
  const target: HostileTarget = { path: `/revisions/${metadata.name}/${hash}/inject`, host: serverName };
  const stop = async (): Promise<void> => {
    await server.stop();
    await worker.close();
  };
  return { ...server, target, stop };
}

interface ClassResult {
  readonly texts: Set<string>;
  readonly unexpected: string[];
  sent: number;
}

describe('the webhook under malformed and absurd requests', () => {
  const lines: string[] = [];
  const results = new Map<string, ClassResult>();
  const healthy: { patched: boolean; localPort: number | undefined }[] = [];
  let dropped = 0;
  let metrics: string[] = [];

  /** Sends requests. The clients share the generator, so that each request is sent once. */
  async function attack(port: number, target: HostileTarget, requests: Iterable<[number, number]>): Promise<void> {
    const client = new HostileClient(port, target.host);
    for (const [round, index] of requests) {
      const { name, expect, make } = hostileClasses[index]!;
      const request = make(new Materials(round * hostileClasses.length + index), target);
      const outcome = await client.send(request);
      const result = results.get(name) ?? { texts: new Set(), unexpected: [], sent: 0 };
      results.set(name, result);
      result.sent++;
      result.texts.add(request.bytes.toString('latin1'));
      if (!expect.includes(outcome))
        result.unexpected.push(`${outcome}: ${JSON.stringify(request.bytes.toString('latin1', 0, 500))}`);
    }
    client.close();
  }

  function* requestsInRounds(halfway: () => void): Generator<[number, number]> {
    for (let round = 0; round < requestsPerClass; round++) {
      if (round === requestsPerClass / 2) halfway();
      for (const index of hostileClasses.keys()) yield [round, index];
    }
  }

  before(async () => {
    const { server, target, post, registry, stop } = await startServer(lines);
    const { port = 0 } = server.address ?? {};
    const open: Socket[] = [];
    const connect = async (): Promise<Socket> => {
      const socket = openTls(port, target.host);
      open.push(socket);
      await once(socket, 'secureConnect');
      return socket;
    };
    const dropCount = async (): Promise<number> => {
      const found = /^injector_connections_dropped_total\{reason="pressure"\} (\d+)$/m.exec(await registry.metrics());
      return Number(found?.[1] ?? 0);
    };
    const postHealthy = async (number: number): Promise<void> => {
      const { body, localPort } = await post(new Materials(number).healthyText(), { path: target.path });
      healthy.push({ patched: answeredReview(body).response.patchType === 'JSONPatch', localPort });
    };
    // Each of these requests opens a connection. Later requests use the same connections.
    await Promise.all(Array.from({ length: healthyConnections }, (_, number) => postHealthy(number)));
    for (let index = 0; index < slowConnections; index++) (await connect()).write(`${postHead(60_000, target.path)}{`);
    const drip = setInterval(() => open.forEach((socket) => socket.write('"')), 500);
    let silent: Promise<unknown> = Promise.resolve();
    const requests = requestsInRounds(() => {
      silent = Promise.all(Array.from({ length: silentConnections }, connect));
    });
    const end = new AbortController();
    const attacks = Promise.all(Array.from({ length: clients }, () => attack(port, target, requests)));
    const ended = attacks.finally(() => {
      end.abort();
    });
    while (!end.signal.aborted) {
      await postHealthy(healthy.length);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await ended;
    await silent;
    dropped = await dropCount();
    await Promise.all(Array.from({ length: healthyConnections }, (_, number) => postHealthy(number)));
    metrics = (await registry.metrics()).split('\n');
    clearInterval(drip);
    for (const socket of open) socket.destroy();
    await stop();
  });

  it(`answers each of at least 40 classes ${requestsPerClass} times`, () => {
    assert.ok(hostileClasses.length >= 40);
    for (const { name } of hostileClasses) assert.equal(results.get(name)?.sent, requestsPerClass, name);
  });

  it('gets requests of which at least 90 % are distinct', () => {
    const distinct = [...results.values()].reduce((sum, { texts }) => sum + texts.size, 0);
    assert.ok(distinct >= 0.9 * requestsPerClass * hostileClasses.length, `${distinct} requests are distinct`);
  });

  for (const { name, expect } of hostileClasses) {
    it(`answers ${name} with ${expect.join(' or ')}`, () => {
      assert.deepEqual(results.get(name)?.unexpected.slice(0, 1), []);
    });
  }

  it('injects all healthy pods meanwhile', () => {
    assert.ok(healthy.length > 50, `only ${healthy.length} healthy reviews`);
    assert.ok(healthy.every(({ patched }) => patched));
  });

  it('closes only connections without an answered review under pressure', () => {
    assert.ok(dropped > 0);
    assert.equal(new Set(healthy.map(({ localPort }) => localPort)).size, healthyConnections);
  });

  it('logs no control characters, no errors and no long lines', () => {
    assert.ok(lines.length > 0);
    assert.deepEqual(
      lines.filter((line) => /\p{Cc}|\p{Cf}|[\u2028\u2029]/u.test(line)).map((line) => JSON.stringify(line)),
      [],
    );
    assert.deepEqual(
      lines.filter((line) => /^\S+ error /.test(line)),
      [],
    );
    assert.deepEqual(
      lines.filter((line) => line.length > 4000),
      [],
    );
  });

  it('has fewer than 1000 lines of metrics, so content of requests does not create series', () => {
    assert.ok(metrics.length < 1000, `${metrics.length} lines`);
  });
});
