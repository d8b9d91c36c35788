/** The log of the kube and operator folders. Callers never pass keys, tokens or Secret data. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/** The source of time, replaced in tests. */
export interface Clock {
  /** The time of day, for people and other processes; it may jump. */
  now(): Date;
  /** Milliseconds since some fixed moment, for measuring durations; never jumps or goes back. */
  monotonic(): number;
  /** Calls `callback` once after the given milliseconds; the returned function cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Returns a number in [0, 1), as Math.random does. */
export type Random = () => number;

/** Receives events from reflectors for metrics, at most a few times a second. */
export interface WatchObserver {
  /** A list returned `objects` objects. */
  listed?(plural: string, objects: number): void;
  /** A watch ended because it timed out, failed, had an expired resourceVersion, or hung. */
  watchEnded?(plural: string, reason: WatchEnd): void;
}

export type WatchEnd = 'Timeout' | 'Error' | 'Expired' | 'Hung';
