import { startBareServer } from './bare-server.ts';
import { type Collections, watchCollections } from './collections.ts';
import { startOurServer } from './our-server.ts';

/** A child process's answer: total reused decisions, and collections since the last request. */
export interface ServerAnswer {
  readonly reused: number;
  readonly collections: Collections;
}

/** Runs server `bare` or `ours`. Sends its port, answers messages, and exits with its parent. */
async function serve(kind = '', configurationFile = ''): Promise<void> {
  const server = kind === 'bare' ? await startBareServer() : await startOurServer(configurationFile);
  process.on('disconnect', () => process.exit(0));
  const collections = watchCollections();
  process.on('message', () => {
    void server
      .reused()
      .then((reused) => process.send?.({ reused, collections: collections() } satisfies ServerAnswer));
  });
  process.send?.({ port: server.port });
}

void serve(...process.argv.slice(2));
