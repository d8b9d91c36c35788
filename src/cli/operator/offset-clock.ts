import { readFileSync } from 'node:fs';
import type { Clock, Logger } from '../../kube/ports.ts';

/**
 * A clock that is wrong by as many milliseconds as a file says, for tests: a machine whose time of day jumps. Nothing else of time is changed,
 * as on such a machine. The file is read at every look; while it cannot be read or holds no number, what it said before counts.
 */
export function offsetClock(clock: Clock, file: string, logger: Pick<Logger, 'warn'>): Clock {
  let offset = 0;
  const read = (): number => {
    try {
      const text = readFileSync(file, 'utf8').trim();
      return /^-?\d{1,12}$/.test(text) ? Number(text) : offset;
    } catch {
      return offset;
    }
  };
  return {
    now() {
      const before = offset;
      offset = read();
      if (offset !== before) logger.warn('the clock was moved for a test', { milliseconds: offset });
      return new Date(clock.now().getTime() + offset);
    },
    monotonic: () => clock.monotonic(),
    after: (milliseconds, callback) => clock.after(milliseconds, callback),
  };
}
