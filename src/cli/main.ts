import { run } from './program.ts';
import { processTerminal } from './terminal.ts';

// Ignore a closed pipe: `injector crd | head`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
void run(processTerminal, process.argv.slice(2));
