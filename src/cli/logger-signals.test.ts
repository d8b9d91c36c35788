import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { type LogLevel, switchLogLevelOnSignal } from './logger.ts';

describe('SIGUSR2', () => {
  function levels(configured: LogLevel, signals: number): { seen: string[]; lines: string[] } {
    const source = new EventEmitter();
    const lines: string[] = [];
    const logger = { level: configured as string, warn: ((line: string) => lines.push(line)) as never };
    switchLogLevelOnSignal(logger, configured, source);
    const seen = Array.from({ length: signals }, () => {
      source.emit('SIGUSR2');
      return logger.level;
    });
    return { seen, lines };
  }

  it('switches the log level to debug and back, and logs the change', () => {
    const { seen, lines } = levels('warn', 3);
    assert.deepEqual(seen, ['debug', 'warn', 'debug']);
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? '', /is now debug; the next SIGUSR2 sets it back to warn/);
  });

  it('changes nothing if the configured level is debug', () => {
    assert.deepEqual(levels('debug', 2), { seen: ['debug', 'debug'], lines: [] });
  });
});
