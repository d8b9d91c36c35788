import { startBareServer } from './bare-server.ts';
import { type Collections, watchCollections } from './collections.ts';
import { startOurServer } from './our-server.ts';

/** The answer: the total of reused decisions, and the collections since the last request. */
export interface ServerAnswer {
  readonly reused: number;
  readonly collections: Collections;
}

/** Runs server `bare` or `ours`. Sends the port, answers messages, and exits with the parent. */
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
