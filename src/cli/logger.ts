import {
  createLogger as createWinstonLogger,
  format,
  transports,
  type Logform,
  type Logger as WinstonLogger,
} from 'winston';

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

/** Escapes control characters: names of pods come from authors and must not control a terminal. */
function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Logs to standard error, because results go to standard output. */
export function createLogger(level: LogLevel, logFormat: LogFormat): WinstonLogger {
  const { combine, timestamp, json, printf } = format;
  return createWinstonLogger({
    level,
    format: combine(timestamp(), logFormat === 'json' ? json() : printf(readable)),
    transports: [new transports.Console({ stderrLevels: [...logLevels] })],
  });
}
