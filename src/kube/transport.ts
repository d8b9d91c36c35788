import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError, messageOf, noAnswer } from './api-error.ts';

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: string | undefined;
  contentType?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The time limit for the response headers, in milliseconds. */
  timeoutMs: number;
}

/** The time after which credentials are loaded again from files and tokens, in milliseconds. */
const credentialsLifeMs = 10_000;
/** The interval of TCP keep-alive probes, which detect vanished peers, in milliseconds. */
const tcpKeepAliveMs = 15_000;

interface Credentials {
  agent: http.Agent;
  headers: http.OutgoingHttpHeaders;
  loadedAt: number;
}

/** Sends HTTP/1.1 requests to one API server over kept-alive connections, with credentials. */
export class Transport {
  readonly server: URL;
  readonly #userAgent: string;
  readonly #secure: boolean;
  #kubeConfig: KubeConfig;
  #credentials: Credentials | undefined;
  readonly #agents = new Map<string, http.Agent>();

  constructor(kubeConfig: KubeConfig, userAgent: string) {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error('the kubeconfig has no current cluster');
    this.server = new URL(cluster.server);
    this.#secure = this.server.protocol === 'https:';
    this.#kubeConfig = kubeConfig;
    this.#userAgent = userAgent;
  }

  /**
   * Sends a request and resolves when the response headers arrive, with any status.
   * @throws ApiError (code 0) if no response arrives in time; the signal's reason after an abort
   */
  async send(request: TransportRequest): Promise<http.IncomingMessage> {
    const response = await this.#attempt(request);
    if (response.statusCode !== 401) return response;
    // The token may have been replaced; new authenticators read the token again.
    response.resume();
    this.#forgetCredentials();
    return this.#attempt(request);
  }

  /** Closes every connection, including those in use. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #attempt(request: TransportRequest): Promise<http.IncomingMessage> {
    const credentials = await this.#load();
    try {
      return await this.#exchange(request, credentials);
    } catch (error) {
      // The server closed an idle connection when we reused it, so the request was not processed.
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
      const timer = setTimeout(() => {
        const what = `${request.method} ${request.path.split('?', 1).join('')}`;
        const problem = `${what}: no response from ${this.server.host} within ${request.timeoutMs} ms`;
        outgoing.destroy(noAnswer('Timeout', problem));
      }, request.timeoutMs);
      request.signal?.addEventListener('abort', abort, { once: true });
      outgoing.on('response', (response) => {
        clearTimeout(timer);
        response.on('close', () => request.signal?.removeEventListener('abort', abort));
        resolve(response);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
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
    // A certificate may have been replaced: load the credentials again for the next attempt.
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

  /** Returns the agent for these TLS settings. It reads certificates once for all connections. */
  #agentFor(options: https.RequestOptions): http.Agent {
    const proxied = (this.#kubeConfig.getCurrentCluster()?.proxyUrl ?? '') !== '';
    const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
    const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
    const digest = createHash('sha256').update(JSON.stringify(tls)).digest('hex');
    const existing = this.#agents.get(digest);
    if (existing !== undefined) return existing;
    const pool = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, maxFreeSockets: 8, scheduling: 'lifo' as const };
    const defined = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
    const agent =
      proxied && options.agent instanceof http.Agent
        ? options.agent
        : this.#secure
          ? new https.Agent({ ...pool, ...defined, secureContext: createSecureContext(defined) })
          : new http.Agent(pool);
    this.#agents.set(digest, agent);
    return agent;
  }
}

/** The server closed a kept-alive connection before it received our request. */
class StaleConnection extends ApiError {}

function headersOf(options: https.RequestOptions): http.OutgoingHttpHeaders {
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries((options.headers ?? {}) as http.OutgoingHttpHeaders)) {
    // Token files often end in a newline, which a header must not contain.
    headers[name.toLowerCase()] = typeof value === 'string' ? value.trim() : value;
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

/** Makes the ApiError for a connection that could not be opened, or that broke midway. */
export function unreachable(host: string, cause: Error): ApiError {
  const code = (cause as NodeJS.ErrnoException).code;
  const detail = code === undefined || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
  return noAnswer('Unreachable', `cannot reach the API server at ${host}: ${detail}`, cause);
}
