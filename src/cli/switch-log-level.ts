import type { EventEmitter } from 'node:events';
import type { Logger as WinstonLogger } from 'winston';
import type { LogLevel } from './logger.ts';

/** Switches the log level to debug at SIGUSR2, and back at the next SIGUSR2. */
export function switchLogLevelOnSignal(
  logger: Pick<WinstonLogger, 'level' | 'warn'>,
  configured: LogLevel,
  source: Pick<EventEmitter, 'on'> = process,
): void {
  source.on('SIGUSR2', () => {
    const before = logger.level;
    logger.level = before === 'debug' ? configured : 'debug';
    if (logger.level === before) return;
    logger.warn(`SIGUSR2: the log level is now ${logger.level}; the next SIGUSR2 sets it back to ${before}`);
  });
}

/** Waits for SIGTERM or SIGINT. A second signal then ends the process immediately. */
export async function untilSignal(onSignal: (signal: NodeJS.Signals) => void): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  const exit = (): never => process.exit(1);
  process.on('SIGTERM', exit).on('SIGINT', exit);
  onSignal(signal);
}
