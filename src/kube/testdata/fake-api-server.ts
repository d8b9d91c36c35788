import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

export interface FakeRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

export type FakeAnswer = (request: FakeRequest, response: ServerResponse) => void;

/** An HTTP server in this process that plays the API server as a test scripts it. */
export class FakeApiServer {
  readonly requests: FakeRequest[] = [];
  readonly #server: Server;
  #answer: FakeAnswer;

  constructor(answer: FakeAnswer) {
    this.#answer = answer;
    this.#server = createServer((incoming, response) => {
      const { method = '', url = '/', headers } = incoming;
      const { pathname: path, searchParams: query } = new URL(url, 'http://fake');
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const request = { method, path, query, headers, body: Buffer.concat(chunks).toString('utf8') };
        this.requests.push(request);
        this.#answer(request, response);
      });
    });
  }

  /** Replaces the answer function for later requests. */
  answerWith(answer: FakeAnswer): void {
    this.#answer = answer;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  kubeConfig(user: Record<string, unknown> = {}): KubeConfig {
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'fake', server: this.url, skipTLSVerify: true }, { name: 'tester', ...user });
    return config;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function json(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function failure(response: ServerResponse, code: number, reason: string, message: string, headers = {}): void {
  json(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, headers);
}
