/** What the server logs through: a message and flat fields; the command line hands in winston. Never given keys, tokens or bodies. */
export interface LogPort {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
  /** Whether lines of this level go anywhere (winston has it); absent: they do. */
  isLevelEnabled?(level: string): boolean;
}

/** A clock that never goes back, in milliseconds; its zero means nothing. */
export type MonotonicClock = () => number;
