import { startBareServer } from './bare-server.ts';
import { startOurServer } from './our-server.ts';

/** The child process of a measurement: `bare`, or `ours` and a configuration file. Tells its port, answers each message with its reuses, ends with its parent. */
async function serve(kind = '', configurationFile = ''): Promise<void> {
  const server = kind === 'bare' ? await startBareServer() : await startOurServer(configurationFile);
  process.on('disconnect', () => process.exit(0));
  process.on('message', () => {
    void server.reused().then((reused) => process.send?.({ reused }));
  });
  process.send?.({ port: server.port });
}

void serve(...process.argv.slice(2));
