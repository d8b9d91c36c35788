import type { Clock } from './ports.ts';

/** The longest delay of a Node timer, 2^31−1 ms; a longer delay would fire immediately. */
const longestTimer = 2_147_483_647;

/** The system clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  after(milliseconds, callback) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const part = Math.min(Math.max(left, 0), longestTimer);
      timer = setTimeout(() => {
        if (left > part) arm(left - part);
        else callback();
      }, part);
      timer.unref();
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after the given milliseconds, or immediately when the signal aborts; never rejects. */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(milliseconds, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
