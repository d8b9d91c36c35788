/** What kube and operator log through: a message and flat fields. Never given keys, tokens or Secrets' data. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}

/** Time as an argument, so that tests need not wait. */
export interface Clock {
  /** The time of day, for what others read: it may jump. */
  now(): Date;
  /** Milliseconds since some moment; never goes back and does not jump. For everything that measures how long. */
  monotonic(): number;
  /** Calls back once after so many milliseconds (any number of them); the returned function cancels. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** A number in [0, 1), as Math.random gives. */
export type Random = () => number;

/** Figures about reflectors, for metrics; each method is called at most a few times a second. */
export interface WatchObserver {
  /** A collection was listed; `objects` is how many it held. */
  listed?(plural: string, objects: number): void;
  /** A watch ended: on time, by an error, because its resourceVersion had expired, or because nothing came any more. */
  watchEnded?(plural: string, reason: WatchEnd): void;
}

export type WatchEnd = 'Timeout' | 'Error' | 'Expired' | 'Hung';
