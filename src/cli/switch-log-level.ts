import type { EventEmitter } from 'node:events';
import type { Logger as WinstonLogger } from 'winston';
import type { LogLevel } from './logger.ts';

/** From now on SIGUSR2 switches the log to debug, and the next one back, so that what is wrong now can be watched without a restart. */
export function switchLogLevelOnSignal(
  logger: Pick<WinstonLogger, 'level' | 'warn'>,
  configured: LogLevel,
  source: Pick<EventEmitter, 'on'> = process,
): void {
  source.on('SIGUSR2', () => {
    const before = logger.level;
    logger.level = before === 'debug' ? configured : 'debug';
    if (logger.level === before) return;
    logger.warn(`SIGUSR2: the log level is ${logger.level} now; SIGUSR2 sets it to ${before} again`);
  });
}

/** Resolves at SIGTERM or SIGINT; from then on a second signal ends the process at once. */
export async function untilSignal(onSignal: (signal: NodeJS.Signals) => void): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  const now = (): never => process.exit(1);
  process.on('SIGTERM', now).on('SIGINT', now);
  onSignal(signal);
}
