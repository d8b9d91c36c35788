/**
 * The way that does not work, as a process of its own: what an unbounded `concat` does, on a thread with a limit for its heap. V8 ends the whole process, not the thread.
 */
import { Worker } from 'node:worker_threads';

const thread = new Worker('let list = [1]; for (;;) list = list.concat(list);', {
  eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 128 },
});
thread.on('error', () => {
  console.log('the thread ended alone');
});
