import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError, messageOf, noAnswer } from './api-error.ts';

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds until the answer's headers must be there. */
  timeoutMs: number;
}

/** How long loaded credentials are used before files and tokens are looked at again, in milliseconds. */
const credentialsLifeMs = 10_000;
/** TCP keep-alive, so that a peer that vanished without a word is noticed, in milliseconds. */
const tcpKeepAliveMs = 15_000;

interface Credentials {
  agent: http.Agent;
  headers: http.OutgoingHttpHeaders;
  loadedAt: number;
}

/** HTTP/1.1 to one API server with kept-alive connections and the kubeconfig's credentials; knows bytes and headers, not objects. */
export class Transport {
  readonly server: URL;
  readonly #userAgent: string;
  readonly #secure: boolean;
  #kubeConfig: KubeConfig;
  #credentials: Credentials | undefined;
  readonly #agents = new Map<string, http.Agent>();

  constructor(kubeConfig: KubeConfig, userAgent: string) {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error('the kubeconfig names no cluster');
    this.server = new URL(cluster.server);
    this.#secure = this.server.protocol === 'https:';
    this.#kubeConfig = kubeConfig;
    this.#userAgent = userAgent;
  }

  /**
   * Sends a request and resolves with the answer as soon as its headers are there, whatever its status.
   * Rejects with {@link ApiError} (code 0) when the server cannot be reached in time and with the signal's reason when aborted.
   */
  async send(request: TransportRequest): Promise<http.IncomingMessage> {
    const response = await this.#attempt(request);
    if (response.statusCode !== 401) return response;
    // The token may have been replaced since we read it; fresh authenticators read it again.
    response.resume();
    this.#forgetCredentials();
    return this.#attempt(request);
  }

  /** Closes every connection, also those in use. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #attempt(request: TransportRequest): Promise<http.IncomingMessage> {
    const credentials = await this.#load();
    try {
      return await this.#exchange(request, credentials);
    } catch (error) {
      // The server closed an idle connection just as we took it: nothing was processed.
      if (!(error instanceof StaleConnection) || request.method === 'POST') throw error;
      return await this.#exchange(request, credentials);
    }
  }

  #exchange(request: TransportRequest, credentials: Credentials): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      request.signal?.throwIfAborted();
      const outgoing = (this.#secure ? https : http).request({
        host: this.server.hostname.replace(/^\[|\]$/g, ''),
        port: this.server.port === '' ? (this.#secure ? 443 : 80) : Number(this.server.port),
        path: `${this.server.pathname.replace(/\/$/, '')}${request.path}`,
        method: request.method,
        agent: credentials.agent,
        headers: {
          ...credentials.headers,
          accept: 'application/json',
          'user-agent': this.#userAgent,
          ...(request.body !== undefined && {
            'content-type': request.contentType ?? 'application/json',
            'content-length': Buffer.byteLength(request.body),
          }),
        },
      });
      const abort = (): void => {
        outgoing.destroy(request.signal?.reason as Error);
      };
      const late = setTimeout(() => {
        const what = `${request.method} ${request.path.split('?', 1).join('')}`;
        const problem = `${what}: no answer from ${this.server.host} within ${request.timeoutMs} ms`;
        outgoing.destroy(noAnswer('Timeout', problem));
      }, request.timeoutMs);
      request.signal?.addEventListener('abort', abort, { once: true });
      outgoing.on('response', (response) => {
        clearTimeout(late);
        response.on('close', () => request.signal?.removeEventListener('abort', abort));
        resolve(response);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(late);
        request.signal?.removeEventListener('abort', abort);
        reject(this.#failure(request, outgoing, error));
      });
      outgoing.end(request.body);
    });
  }

  #failure(request: TransportRequest, outgoing: http.ClientRequest, error: NodeJS.ErrnoException): Error {
    if (error instanceof ApiError || request.signal?.aborted === true) return error;
    const message = `the connection was closed: ${error.message}`;
    if (outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
      return new StaleConnection({ code: 0, reason: 'Unreachable', message }, { cause: error });
    // A certificate may have been replaced: look again before the next attempt.
    this.#forgetCredentials();
    return unreachable(this.server.host, error);
  }

  async #load(): Promise<Credentials> {
    const current = this.#credentials;
    if (current !== undefined && performance.now() - current.loadedAt < credentialsLifeMs) return current;
    const options: https.RequestOptions = {};
    try {
      await this.#kubeConfig.applyToHTTPSOptions(options);
    } catch (error) {
      throw noAnswer('Unreachable', `cannot load credentials: ${messageOf(error)}`, error);
    }
    const loaded = { agent: this.#agentFor(options), headers: headersOf(options), loadedAt: performance.now() };
    this.#credentials = loaded;
    return loaded;
  }

  #forgetCredentials(): void {
    const fresh = new KubeConfig();
    fresh.loadFromOptions(this.#kubeConfig);
    this.#kubeConfig = fresh;
    this.#credentials = undefined;
  }

  /** One agent per set of TLS material, so that connections are shared until a certificate or CA changes. */
  #agentFor(options: https.RequestOptions): http.Agent {
    const proxied = (this.#kubeConfig.getCurrentCluster()?.proxyUrl ?? '') !== '';
    const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
    const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
    const digest = createHash('sha256').update(JSON.stringify(tls)).digest('hex');
    const existing = this.#agents.get(digest);
    if (existing !== undefined) return existing;
    const pool = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, maxFreeSockets: 8, scheduling: 'lifo' as const };
    const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
    const agent =
      proxied && options.agent instanceof http.Agent
        ? options.agent
        : this.#secure
          ? new https.Agent({ ...pool, ...given })
          : new http.Agent(pool);
    this.#agents.set(digest, agent);
    return agent;
  }
}

/** A kept-alive connection was closed by the server before it saw our request. */
class StaleConnection extends ApiError {}

function headersOf(options: https.RequestOptions): http.OutgoingHttpHeaders {
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries((options.headers ?? {}) as http.OutgoingHttpHeaders)) {
    // Token files often end in a newline, which no header may contain.
    headers[name.toLowerCase()] = typeof value === 'string' ? value.trim() : value;
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

/** What a connection error looks like to callers; also used for streams that break in the middle. */
export function unreachable(host: string, cause: Error): ApiError {
  const code = (cause as NodeJS.ErrnoException).code;
  const detail = code === undefined || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
  return noAnswer('Unreachable', `cannot reach the API server at ${host}: ${detail}`, cause);
}
