/** The program of the worker's thread: a file, or the text of a CommonJS module. */
export interface WorkerProgram {
  readonly source: URL | string;
  readonly isText: boolean;
}

/**
 * The program of a process that runs from sources. The build replaces it with the text of a bundle
 * (scripts/bundle/worker-text.ts), so that a release is one file and the thread loads only its own
 * code.
 */
export const workerProgram: WorkerProgram = { source: new URL('./worker-thread.ts', import.meta.url), isText: false };
