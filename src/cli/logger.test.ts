import assert from 'node:assert/strict';
import { createLogger, type LogFormat } from './logger.ts';

/** Returns the lines that the logger writes. */
function written(format: LogFormat, log: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const logger = createLogger('info', format);
  const lines: string[] = [];
  const [transport] = logger.transports;
  assert.ok(transport);
  transport.log = (info: Record<symbol, unknown>, next: () => void) => {
    lines.push(String(info[Symbol.for('message')]));
    next();
  };
  log(logger);
  return lines;
}

describe('the log', () => {
  it('writes readable text in one line', () => {
    const [line = ''] = written('text', (logger) => {
      logger.warn('two\n  lines', { name: 'web', problem: 'a b', milliseconds: 1.23456, absent: undefined, list: [1] });
    });
    assert.match(line, /^\S+Z warn {2}two \| lines name=web problem="a b" milliseconds=1\.235 list=\[1\]$/);
  });

  it('escapes control characters', () => {
    const [line = ''] = written('text', (logger) => {
      logger.warn('bell \u0007', { name: '\u001b[2J', namespace: 'a b\u009b31m', uid: '\u202etxt' });
    });
    assert.match(line, / bell \\u\{7\} name=\\u\{1b\}\[2J namespace="a b\\u\{9b\}31m" uid=\\u\{202e\}txt$/);
  });

  it('writes one JSON object per entry, and omits entries below its level', () => {
    const [line = '', ...more] = written('json', (logger) => {
      logger.debug('detail');
      logger.error('bad', { name: '\u001b\u009b\u202e\u2028' });
    });
    const { timestamp, ...rest } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual(rest, { level: 'error', message: 'bad', name: '\u001b\u009b\u202e\u2028' });
    assert.match(line, /\\u009b\\u202e\\u2028/);
    assert.deepEqual([typeof timestamp, more], ['string', []]);
  });
});
