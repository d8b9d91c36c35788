/** The server's log; the command line uses winston. Never log keys, tokens or bodies. */
export interface LogPort {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
  /** Reports whether the log writes lines of this level. If absent, it writes all levels. */
  isLevelEnabled?(level: string): boolean;
}

/** A clock in milliseconds that never goes backward; its zero is arbitrary. */
export type MonotonicClock = () => number;
