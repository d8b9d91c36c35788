import { spawn } from 'node:child_process';
import { messageOf } from '../files.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import { servePages, type ServedPages, type Site } from './serve-pages.ts';

/**
 * Serves a site.
 * @throws UsageError if the folder or the port cannot be used
 */
export function serveSite(name: string, site: Site, port: number): Promise<ServedPages> {
  return servePages(site, port).catch((error: unknown) => {
    throw pageFailure(`the ${name} cannot be served`, site.folder, error);
  });
}

/** Says what failed, why, and what to do. */
export function pageFailure(what: string, folder: string, error: unknown): UsageError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return new UsageError(
      `${what}: its page is not in ${folder}; use the npm package or the kubectl plugin, or make build in a clone`,
    );
  const isPort = code === 'EADDRINUSE' || code === 'EACCES';
  return new UsageError(`${what}: ${messageOf(error)}${isPort ? '; name another --port, or 0 for any free port' : ''}`);
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
