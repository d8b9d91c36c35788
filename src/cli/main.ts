import { run } from './program.ts';
import { processTerminal } from './terminal.ts';

// Ignore a closed pipe: `injector crd | head`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
// A warning of Node.js or of the YAML parser repeats keys and tags of files.
process.removeAllListeners('warning').on('warning', ({ name, message }) => {
  processTerminal.error(`${name}: ${message}`);
});
void run(processTerminal, process.argv.slice(2));
