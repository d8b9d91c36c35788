/** The log of kube and operator. Callers never pass keys, tokens or the data of Secrets. */
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
  /** Calls back once after any number of milliseconds; the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Returns a number in [0, 1), as Math.random does. */
export type Random = () => number;

/** Receives events of reflectors for metrics, at most a few times a second. */
export interface WatchObserver {
  /** A collection of `objects` objects was listed. */
  listed?(plural: string, objects: number): void;
  /** A watch ended: at its timeout, by an error, by an old resourceVersion, or because it hung. */
  watchEnded?(plural: string, reason: WatchEnd): void;
}

export type WatchEnd = 'Timeout' | 'Error' | 'Expired' | 'Hung';
