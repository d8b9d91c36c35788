import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';
import { ApiClient } from './api-client.ts';
import { ApiError, isConflict, isExpired, isNotFound } from './api-error.ts';
import { resourceKind } from './resource-kinds.ts';
import { failure, FakeApiServer, json, type FakeAnswer } from './testdata/fake-api-server.ts';

const configMaps = resourceKind('v1', 'ConfigMap');
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };

describe('ApiClient', () => {
  let server: FakeApiServer;
  let client: ApiClient;

  async function serve(answer: FakeAnswer, options = {}, user: Record<string, unknown> = {}): Promise<void> {
    server = new FakeApiServer(answer);
    await server.start();
    client = new ApiClient(server.kubeConfig(user), { userAgent: 'injector/1 (all; pod-1)', ...options });
  }
  const echo: FakeAnswer = (_request, response) => {
    json(response, 200, configMap);
  };
  const serveEcho = (user?: Record<string, unknown>): Promise<void> => serve(echo, {}, user);
  afterEach(async () => {
    client.close();
    await server.stop();
  });

  const sent = (): string[] =>
    server.requests.map(({ method, path, query }) => `${method} ${path} ${query.toString()}`.trim());

  it('sends its User-Agent, reads objects, and returns undefined from find for a missing object', async () => {
    await serve((request, response) => {
      if (request.path.endsWith('/a')) json(response, 200, configMap);
      else failure(response, 404, 'NotFound', 'configmaps "b" not found');
    });
    assert.equal(client.server, server.url);
    assert.deepEqual(await client.get(configMaps, 'a', { namespace: 'n' }), configMap);
    assert.deepEqual(await client.find(configMaps, 'a', { namespace: 'n' }), configMap);
    assert.equal(await client.find(configMaps, 'b', { namespace: 'n' }), undefined);
    const isMissing = (error: unknown) => isNotFound(error) && /"b" not found/.test(error.message);
    await assert.rejects(client.get(configMaps, 'b'), isMissing);
    assert.equal(server.requests[0]!.headers['user-agent'], 'injector/1 (all; pod-1)');
    assert.equal(server.requests[0]!.path, '/api/v1/namespaces/n/configmaps/a');
  });

  it('lists page by page and sets the apiVersion and kind of each item', async () => {
    await serve((request, response) => {
      const more = request.query.get('continue') === null;
      const metadata = { resourceVersion: '7', ...(more ? { continue: 'x' } : {}) };
      json(response, 200, { metadata, items: more ? [{ metadata: { name: 'a' } }] : null });
    });
    const all = await client.listAll(configMaps, { limit: 1, labelSelector: 'a=b' });
    assert.deepEqual(all.items, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }]);
    assert.equal(all.resourceVersion, '7');
    assert.deepEqual(sent(), [
      'GET /api/v1/configmaps limit=1&labelSelector=a%3Db',
      'GET /api/v1/configmaps limit=1&labelSelector=a%3Db&continue=x',
    ]);
  });

  it('creates, replaces, applies, patches and deletes objects', async () => {
    await serveEcho();
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', namespace: 'n' } };
    await client.create(configMap, { fieldManager: 'me', dryRun: true });
    await client.replace(lease);
    await client.apply(configMap, { fieldManager: 'me' });
    await client.apply(configMap, { fieldManager: 'me', force: true, subresource: 'status' });
    await client.patch(configMap, 'merge', { data: null });
    await client.patch({ ...configMap, apiVersion: 'v1', kind: 'Namespace' }, 'json', []);
    await client.delete(configMap, { uid: 'u', resourceVersion: '3', gracePeriodSeconds: 0 });
    assert.deepEqual(sent(), [
      'POST /api/v1/namespaces/n/configmaps fieldManager=me&dryRun=All',
      'PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/l',
      'PATCH /api/v1/namespaces/n/configmaps/a fieldManager=me',
      'PATCH /api/v1/namespaces/n/configmaps/a/status fieldManager=me&force=true',
      'PATCH /api/v1/namespaces/n/configmaps/a',
      'PATCH /api/v1/namespaces/a',
      'DELETE /api/v1/namespaces/n/configmaps/a',
    ]);
    const types = server.requests.slice(2, 6).map(({ headers }) => headers['content-type']);
    const expected = ['apply-patch+yaml', 'apply-patch+yaml', 'merge-patch+json', 'json-patch+json'];
    assert.equal(types.join(), expected.map((type) => `application/${type}`).join());
    assert.deepEqual(JSON.parse(server.requests[6]!.body), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u', resourceVersion: '3' },
    });
  });

  it('refuses to write an object that has no name or an unknown kind', async () => {
    await serveEcho();
    await assert.rejects(client.replace({ ...configMap, metadata: {} }), /ConfigMap: metadata.name is missing/);
    await assert.rejects(client.create({ ...configMap, kind: 'Gadget' }), /v1 Gadget is not in the table/);
  });

  it('reports the code, reason, causes and Retry-After header of a failed request', async () => {
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "x"', field: '.data' }];
    await serve((request, response) => {
      if (request.path.endsWith('/conflict'))
        json(response, 409, { code: 409, reason: 'Conflict', message: 'no', details: { causes } });
      else if (request.path.endsWith('/busy'))
        failure(response, 429, 'TooManyRequests', 'slow', { 'retry-after': '3' });
      else if (request.path.endsWith('/gone')) failure(response, 410, 'Gone', 'gone');
      else if (request.path.endsWith('/later')) json(response, 503, { details: { retryAfterSeconds: 5 } });
      else response.writeHead(502, { 'content-type': 'text/html', 'retry-after': 'soon' }).end('<h1>Bad gateway</h1>');
    });
    const failed = async (path: string): Promise<ApiError> => {
      try {
        await client.request('GET', path);
      } catch (error) {
        if (error instanceof ApiError) return error;
      }
      return assert.fail('no ApiError');
    };
    const conflict = await failed('/conflict');
    assert.ok(isConflict(conflict));
    const { code, reason, message } = conflict;
    assert.deepEqual([code, reason, message, conflict.causes], [409, 'Conflict', 'no', causes]);
    assert.equal((await failed('/busy')).retryAfter, 3);
    assert.equal((await failed('/later')).retryAfter, 5);
    assert.ok(isExpired(await failed('/gone')));
    const proxy = await failed('/x');
    assert.deepEqual(
      [proxy.code, proxy.reason, proxy.message, proxy.retryAfter],
      [502, 'HTTP 502', 'GET /x: HTTP 502: <h1>Bad gateway</h1>', undefined],
    );
  });

  it('returns plain text as text, and rejects malformed JSON', async () => {
    await serve((request, response) => {
      const type = request.path === '/readyz' ? 'text/plain' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end('ok');
    });
    assert.equal(await client.request('GET', '/readyz'), 'ok');
    await assert.rejects(client.request('GET', '/api'), { name: 'ApiError', reason: 'Malformed' });
  });

  const halfAnswer: FakeAnswer = (request, response) => {
    if (request.path === '/half') response.writeHead(200).write('{');
  };
  it('times out when the server sends no response, or only half a response', async () => {
    await serve(halfAnswer, { timeoutMs: 30 });
    for (const path of ['/silent', '/half']) {
      await assert.rejects(client.request('GET', path), { name: 'ApiError', code: 0, reason: 'Timeout' });
    }
  });

  it('names the server that it cannot reach', async () => {
    await serveEcho();
    const { url } = server;
    await server.stop();
    const message = new RegExp(`^cannot reach the API server at ${new URL(url).host}:`);
    await assert.rejects(client.request('GET', '/'), { name: 'ApiError', reason: 'Unreachable', message });
    await server.start();
  });

  it('rejects with the abort reason if aborted before the request, while waiting, or while reading', async () => {
    await serve(halfAnswer);
    const reason = new Error('enough');
    await assert.rejects(client.request('GET', '/', { signal: AbortSignal.abort(reason) }), reason);
    for (const path of ['/silent', '/half']) {
      const stop = new AbortController();
      const failed = assert.rejects(client.request('GET', path, { signal: stop.signal }), reason);
      setTimeout(() => {
        stop.abort(reason);
      }, 20);
      await failed;
    }
  });

  it('yields watch events, and fails on an ERROR event or a broken connection', async () => {
    await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
      if (request.query.get('resourceVersion') === '1') {
        response.end('{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}}\n');
      } else setTimeout(() => response.destroy(), 10);
    });
    const follow = async (resourceVersion: string): Promise<string[]> => {
      const types: string[] = [];
      try {
        for await (const { type } of client.watch(configMaps, { resourceVersion })) types.push(type);
      } catch (error) {
        assert.ok(error instanceof ApiError);
        types.push(error.reason);
      }
      return types;
    };
    assert.deepEqual(await follow('1'), ['ADDED', 'Expired']);
    assert.deepEqual(await follow('2'), ['ADDED', 'Unreachable']);
  });

  it('closes the connection when the reader leaves the watch', async () => {
    let closed: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (closed = resolve));
    await serve((_request, response) => {
      response.on('close', closed);
      response.writeHead(200).write('{"type":"ADDED","object":{}}\n');
    });
    for await (const { type } of client.watch(configMaps)) {
      assert.equal(type, 'ADDED');
      break;
    }
    await ended;
  });

  it('retries on a new connection when the server has closed a kept-alive connection', async () => {
    const closing: FakeAnswer = (_request, response) => {
      json(response, 200, {});
      // The client notices the closed connection only when it uses it again.
      setImmediate(() => response.socket?.destroy());
    };
    await serve(closing);
    for (let index = 0; index < 20; index += 1) await client.request('GET', '/');
    assert.equal(server.requests.length, 20);
  });

  it('sends the token from a file, and rereads the file after a 401 response', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'token-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'first\n');
    const answer: FakeAnswer = ({ headers }, response) => {
      if (headers.authorization === 'Bearer second') json(response, 200, {});
      else failure(response, 401, 'Unauthorized', 'Unauthorized');
    };
    await serve(answer, {}, { authProvider: { name: 'tokenFile', config: { tokenFile } } });
    try {
      await assert.rejects(client.request('GET', '/'), /Unauthorized/);
      writeFileSync(tokenFile, 'second\n');
      await client.request('GET', '/');
      rmSync(tokenFile);
      assert.equal(server.requests[0]!.headers.authorization, 'Bearer first');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('reads the certificates for TLS once, not for each connection', async () => {
    await serveEcho();
    const config = server.kubeConfig();
    config.clusters = [{ name: 'fake', server: 'https://127.0.0.1:1', skipTLSVerify: true }];
    const secure = new ApiClient(config);
    const { createSecureContext } = tls;
    let contexts = 0;
    tls.createSecureContext = (options) => (contexts++, createSecureContext(options));
    syncBuiltinESMExports();
    try {
      for (let index = 0; index < 3; index++) await assert.rejects(secure.request('GET', '/'), /cannot reach/);
    } finally {
      tls.createSecureContext = createSecureContext;
      syncBuiltinESMExports();
    }
    assert.equal(contexts, 1);
  });

  it('sends the user name and password', async () => {
    await serveEcho({ username: 'u', password: 'p' });
    await client.request('GET', '/');
    assert.equal(server.requests[0]!.headers.authorization, `Basic ${Buffer.from('u:p').toString('base64')}`);
  });

  it('keeps the path of the server URL', async () => {
    await serveEcho();
    const config = server.kubeConfig();
    config.clusters = [{ name: 'fake', server: `${server.url}/k8s/clusters/one`, skipTLSVerify: true }];
    const prefixed = new ApiClient(config);
    await prefixed.get(configMaps, 'a', { namespace: 'n' });
    prefixed.close();
    assert.equal(prefixed.server, `${server.url}/k8s/clusters/one`);
    assert.deepEqual(sent(), ['GET /k8s/clusters/one/api/v1/namespaces/n/configmaps/a']);
  });

  it('reports credentials that cannot be loaded', async () => {
    await serve(() => undefined, {}, { authProvider: { name: 'tokenFile', config: { tokenFile: '/nowhere/token' } } });
    await assert.rejects(client.request('GET', '/'), /cannot load credentials: .*nowhere/);
  });
});
