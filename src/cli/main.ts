import { run } from './program.ts';
import { processTerminal } from './terminal.ts';

void run(processTerminal, process.argv.slice(2));
