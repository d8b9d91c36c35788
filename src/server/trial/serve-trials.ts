import { writeFileSync } from 'node:fs';
import { type FromTrial, type ToTrial, tryConfiguration } from './try-configuration.ts';

/** The process that tries configurations, until the one that has started it is gone. */
export function serveTrials(): void {
  const answer = (message: FromTrial): void => {
    process.send?.(message);
  };
  goFirstWhereMemoryIsShort();
  // A terminal tells all processes; when to end is for the other one to say.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => {
    process.exit();
  });
  process.on('message', (message: ToTrial) => {
    answer(tryConfiguration(message));
  });
  answer({ kind: 'ready' });
}

/** On Linux. */
function goFirstWhereMemoryIsShort(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Elsewhere there is no such file.
  }
}
