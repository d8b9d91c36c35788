/** What the lane's thread runs: a file, or the text of a CommonJS module. */
export interface LaneProgram {
  readonly source: URL | string;
  readonly isText: boolean;
}

/**
 * The thread's program, from sources. The build puts a text in its place, the thread's own bundle (scripts/bundle/lane-text.ts): what is published stays one file,
 * and the thread does not load what it has no use for.
 */
export const laneProgram: LaneProgram = { source: new URL('./lane-thread.ts', import.meta.url), isText: false };
