import { Agent, request } from 'node:https';

/** Where an injector is, and who it must prove to be. */
export interface WebhookAddress {
  readonly port: number;
  /** `/revisions/N/<hash8>/inject`. */
  readonly path: string;
  /** The host name of its Service, which its certificate must carry. */
  readonly host: string;
  /** PEM of the caBundle. */
  readonly authority: string;
}

/** A client as the API server is one: it checks the certificate, and keeps its one connection. */
export class HealthyClient {
  /** Connections that it has opened: more than one, and the server has closed one that worked. */
  opened = 0;
  readonly #address: WebhookAddress;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(address: WebhookAddress) {
    this.#address = address;
  }

  /** Posts a review; the text of the answer. Rejects when there is none, or none with status 200. */
  post(body: string): Promise<string> {
    const { port, path, host, authority } = this.#address;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port,
          path: `${path}?timeout=10s`,
          method: 'POST',
          servername: host,
          ca: authority,
          agent: this.#agent,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          timeout: 10_000,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            if (response.statusCode === 200) resolve(text);
            else reject(new Error(`answered with ${response.statusCode ?? 0}: ${text.slice(0, 200)}`));
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 10 s')));
      outgoing.on('error', reject);
      outgoing.on('socket', (socket) => {
        if (socket.connecting) this.opened++;
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
