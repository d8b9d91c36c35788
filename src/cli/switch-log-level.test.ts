import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { LogLevel } from './logger.ts';
import { switchLogLevelOnSignal } from './switch-log-level.ts';

describe('SIGUSR2', () => {
  function levels(configured: LogLevel, signals: number): { seen: string[]; said: string[] } {
    const source = new EventEmitter();
    const said: string[] = [];
    const logger = { level: configured as string, warn: ((line: string) => said.push(line)) as never };
    switchLogLevelOnSignal(logger, configured, source);
    const seen = Array.from({ length: signals }, () => {
      source.emit('SIGUSR2');
      return logger.level;
    });
    return { seen, said };
  }

  it('switches the log to debug and back, and says so', () => {
    const { seen, said } = levels('warn', 3);
    assert.deepEqual(seen, ['debug', 'warn', 'debug']);
    assert.equal(said.length, 3);
    assert.match(said[0] ?? '', /is debug now; SIGUSR2 sets it to warn again/);
  });

  it('changes nothing where debug is what was asked for', () => {
    assert.deepEqual(levels('debug', 2), { seen: ['debug', 'debug'], said: [] });
  });
});
