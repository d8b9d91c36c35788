import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** The files of a page, by the path of a request. No other file can be read. */
const files: Readonly<Record<string, { readonly file: string; readonly type: string } | undefined>> = {
  '/': { file: 'index.html', type: 'text/html' },
  '/page.css': { file: 'page.css', type: 'text/css' },
  '/page.js': { file: 'page.js', type: 'text/javascript' },
  '/engine.js': { file: 'engine.js', type: 'text/javascript' },
};

/** The page also contains this policy, except for frame-ancestors, for servers that send none. */
const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; \
form-action 'none'; frame-ancestors 'none'`;

const headers = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

export interface ServedPages {
  readonly url: string;
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}

/**
 * Serves the files of a folder to browsers on this machine.
 * @param port 0 for any free port
 * @throws Error if the folder or the port cannot be used
 */
export async function servePages(folder: string, port: number): Promise<ServedPages> {
  await readFile(join(folder, 'index.html'));
  const server = createServer((request, response) => void answer(server, folder, request, response));
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

async function answer(server: Server, folder: string, request: IncomingMessage, response: ServerResponse) {
  const refuse = (status: number, reason: string): void => {
    response.writeHead(status, { ...headers, 'Content-Type': 'text/plain' }).end(`${reason}\n`);
  };
  const { method, url = '', headers: sent } = request;
  const found = Object.hasOwn(files, url) ? files[url] : undefined;
  // Another host name may belong to a page that has rebound it to this address.
  if (!['127.0.0.1', 'localhost'].some((host) => sent.host === `${host}:${portOf(server)}`)) {
    refuse(421, 'this server has another host name');
  } else if (method !== 'GET') {
    refuse(405, 'only GET is allowed');
  } else if (found === undefined) {
    refuse(404, 'there is no such page');
  } else {
    try {
      const content = await readFile(join(folder, found.file));
      response.writeHead(200, { ...headers, 'Content-Type': `${found.type}; charset=utf-8` }).end(content);
    } catch {
      refuse(500, `${found.file} cannot be read`);
    }
  }
}
