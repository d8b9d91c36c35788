import { spawn } from 'node:child_process';
import { messageOf } from '../files.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { servePages, type ServedPages, type Site } from './serve-pages.ts';

/**
 * Serves a site; a failure names the page and what to do.
 * @throws UsageError if the folder or the port cannot be used
 */
export function serveSite(name: string, site: Site, port: number): Promise<ServedPages> {
  return servePages(site, port).catch((error: unknown) => {
    throw new UsageError(`the ${name} cannot be served: ${messageOf(error)}${adviceFor(error, site.folder)}`);
  });
}

function adviceFor(error: unknown, folder: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EACCES') return '; name another --port, or 0 for any free port';
  if (code === 'ENOENT') return `; install the npm package or run make build, which write ${folder}`;
  return '';
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the default browser, or says which program did not start. */
export function openInBrowser(terminal: Terminal, url: string): void {
  const [program = '', ...rest] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...rest, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) =>
    terminal.error(`the browser was not opened: ${program} did not start: ${error.message}; open the address yourself`),
  );
  child.unref();
}
