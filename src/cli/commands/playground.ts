import { join } from 'node:path';
import { Command } from 'commander';
import { parsePort } from '../option-values.ts';
import { openInBrowser, serveSite } from '../pages/open-page.ts';
import { webFolder } from '../pages/web-folder.ts';
import type { Terminal } from '../terminal.ts';

interface PlaygroundOptions {
  readonly port: number;
  readonly open?: true;
}

/** The files of the page, besides its HTML. */
export const playgroundFiles = ['page.css', 'page.js', 'engine.js'];

/** `injector playground`: serves the page that runs the engine in a browser, until interrupted. */
export function playgroundCommand(terminal: Terminal, folder = join(webFolder, 'playground')): Command {
  return new Command('playground')
    .description('serve a page on this machine that shows what an InjectorConfig does to a pod, without a cluster')
    .option('--port <port>', 'the port; 0 for any free port', parsePort, 0)
    .option('--open', 'also open the page in the default browser')
    .action(async ({ port, open }: PlaygroundOptions) => {
      const pages = await serveSite('playground', { folder, files: playgroundFiles }, port);
      terminal.out(`the playground is at ${pages.url} (Ctrl-C stops it)`);
      if (open) openInBrowser(terminal, pages.url);
      await new Promise<void>((resolve) => terminal.onInterrupt(resolve));
      await pages.close();
    });
}
