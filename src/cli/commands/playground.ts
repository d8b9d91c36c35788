import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import { messageOf } from '../files.ts';
import { parsePort } from '../option-values.ts';
import { servePages } from '../playground/serve-pages.ts';
import { webFolder } from '../playground/web-folder.ts';
import { type Terminal, UsageError } from '../terminal.ts';

interface PlaygroundOptions {
  readonly port: number;
  readonly open?: true;
}

/** `injector playground`: serves the page that runs the engine in a browser, until interrupted. */
export function playgroundCommand(terminal: Terminal, folder = join(webFolder, 'playground')): Command {
  return new Command('playground')
    .description('serve a page on this machine that shows what an InjectorConfig does to a pod, without a cluster')
    .option('--port <port>', 'the port; 0 for any free port', parsePort, 0)
    .option('--open', 'also open the page in the default browser')
    .action(async ({ port, open }: PlaygroundOptions) => {
      const pages = await servePages(folder, port).catch((error: unknown) => {
        throw new UsageError(`the playground cannot be served: ${messageOf(error)}${adviceFor(error, folder)}`);
      });
      terminal.out(`the playground is at ${pages.url} (Ctrl-C stops it)`);
      if (open) openInBrowser(terminal, pages.url);
      await new Promise<void>((resolve) => terminal.onInterrupt(resolve));
      await pages.close();
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

function openInBrowser(terminal: Terminal, url: string): void {
  const [program = '', ...rest] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...rest, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) => terminal.error(`--open: ${program} did not start: ${error.message}; open ${url}`));
  child.unref();
}
