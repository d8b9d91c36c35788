import type { EventEmitter } from 'node:events';
import {
  createLogger as createWinstonLogger,
  format,
  transports,
  type Logform,
  type Logger as WinstonLogger,
} from 'winston';
import { escapeJson, printable } from '../api/printable-text.ts';

export type LogFormat = 'json' | 'text';
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Formats an entry as one line: time, level, message, then fields as key=value. */
function readable(info: Logform.TransformableInfo): string {
  const { level, message, timestamp, ...fields } = info;
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${shown(value)}`)
    .join('');
  const text = String(message).replaceAll(/\s+/g, (space) => (space.includes('\n') ? ' | ' : space));
  return `${String(timestamp)} ${level.padEnd(5)} ${printable(text)}${rest}`;
}

function shown(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000);
  return printable(typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value));
}

/** The key of the formatted line (triple-beam, which winston uses). */
const line = Symbol.for('message');
const escaped = format((info) => ({ ...info, [line]: escapeJson(String(info[line])) }));

/** Logs to standard error, because results go to standard output. */
export function createLogger(level: LogLevel, logFormat: LogFormat): WinstonLogger {
  const { combine, timestamp, json, printf } = format;
  return createWinstonLogger({
    level,
    format: combine(timestamp(), logFormat === 'json' ? combine(json(), escaped()) : printf(readable)),
    transports: [new transports.Console({ stderrLevels: [...logLevels] })],
  });
}

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
