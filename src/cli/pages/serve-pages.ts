import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' };

/** The files of a page, and the data that its scripts request. */
export interface Site {
  readonly folder: string;
  /** The names of the files that can be read, besides `index.html` at `/`. */
  readonly files: readonly string[];
  /** Answers requests for data. The policy allows connections only if it is set. */
  readonly answer?: (request: DataRequest) => Promise<DataAnswer>;
  /** Carries out POST requests of the page; absent to refuse all. Their bodies are ignored. */
  readonly act?: (request: DataRequest) => Promise<DataAnswer>;
}

/** A request for anything but a file of the page. */
export interface DataRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The token of the header `Authorization: Bearer …`. */
  readonly bearer: string | undefined;
  /** Aborts when the browser closes the connection. */
  readonly signal: AbortSignal;
}

/** A status, and the body as JSON. */
export interface DataAnswer {
  readonly status: number;
  readonly json: string;
}

/** The maximum number of connections; a page uses less than ten. */
const mostConnections = 100;

/** The pages also contain this policy, except for frame-ancestors, for servers that send none. */
function policyOf({ answer }: Site): string {
  const connections = answer === undefined ? '' : "connect-src 'self'; ";
  return `default-src 'none'; script-src 'self'; style-src 'self'; ${connections}img-src data:; base-uri 'none'; \
form-action 'none'; frame-ancestors 'none'`;
}

const headersOf = (site: Site) => ({
  'Content-Security-Policy': policyOf(site),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
});

export interface ServedPages {
  readonly url: string;
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}

/**
 * Serves a site to browsers on this machine.
 * @param port 0 for any free port
 * @throws Error if the folder or the port cannot be used
 */
export async function servePages(site: Site, port: number): Promise<ServedPages> {
  await readFile(join(site.folder, 'index.html'));
  const server = createServer((request, response) => void respond(server, site, request, response));
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function respond(server: Server, site: Site, request: IncomingMessage, response: ServerResponse) {
  const headers = headersOf(site);
  const refuse = (status: number, reason: string): void => {
    response.writeHead(status, { ...headers, 'Content-Type': 'text/plain' }).end(`${reason}\n`);
  };
  const { method, url = '', headers: sent } = request;
  const hosts = ['127.0.0.1', 'localhost'].map((host) => `${host}:${portOf(server)}`);
  const isAction = method === 'POST' && site.act !== undefined;
  const file = url === '/' ? 'index.html' : site.files.find((name) => url === `/${name}`);
  // Another host name may belong to a page that has rebound it to this address.
  if (!hosts.some((host) => sent.host === host)) {
    refuse(421, 'this server has another host name');
  } else if (sent.origin !== undefined && sent.origin !== `http://${sent.host ?? ''}`) {
    refuse(403, 'pages of other origins are refused');
  } else if (isAction && sent.origin === undefined) {
    refuse(403, 'an action needs the origin, which browsers send');
  } else if (method !== 'GET' && !isAction) {
    refuse(405, 'only GET is allowed');
  } else if (file !== undefined && !isAction) {
    try {
      const content = await readFile(join(site.folder, file));
      response.writeHead(200, { ...headers, 'Content-Type': `${types[extname(file)] ?? ''}; charset=utf-8` });
      response.end(content);
    } catch {
      refuse(500, `${file} cannot be read`);
    }
  } else {
    const answer = isAction ? site.act : site.answer;
    if (answer === undefined) {
      refuse(404, 'there is no such page');
      return;
    }
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const { status, json } = await answer({ ...dataRequest(url, sent.authorization), signal: closed.signal });
    response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(json);
  }
}

/** Splits a target such as `/reports/tags?after=3`; a malformed one has another path than ours. */
function dataRequest(url: string, authorization: string | undefined): Omit<DataRequest, 'signal'> {
  const [path = '', query = ''] = url.split('?', 2);
  const bearer = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
  return { path, query: new URLSearchParams(query), bearer };
}
