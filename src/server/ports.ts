/** The server's log, winston in the command line. Never log keys, tokens or bodies. */
export interface LogPort {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
  /** Reports whether the log writes lines of this level; if absent, it does. */
  isLevelEnabled?(level: string): boolean;
}

/** A clock in milliseconds that never goes backward; its zero is arbitrary. */
export type MonotonicClock = () => number;
