/** What the worker's thread runs: a file, or the text of a CommonJS module. */
export interface WorkerProgram {
  readonly source: URL | string;
  readonly isText: boolean;
}

/**
 * The thread's program, from sources. The build puts a text in its place, the thread's own bundle (scripts/bundle/worker-text.ts): what is published stays one file,
 * and the thread does not load what it has no use for.
 */
export const workerProgram: WorkerProgram = { source: new URL('./worker-thread.ts', import.meta.url), isText: false };
