import { startBareServer } from './bare-server.ts';
import { type Collections, watchCollections } from './collections.ts';
import { startOurServer } from './our-server.ts';

/** What a child process tells when it is asked: decisions given again so far, and what the collector did since it was asked last. */
export interface ServerAnswer {
  readonly reused: number;
  readonly collections: Collections;
}

/** The child process of a measurement: `bare`, or `ours` and a configuration file. Tells its port, answers each message, ends with its parent. */
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
