import type { OperatorProcess } from '../../harness/operator-process.ts';

/** Milliseconds for which an operator's main thread was kept at once, at most, since it was last asked. */
export async function longestDelay(operator: OperatorProcess): Promise<number> {
  const found = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await operator.metrics())?.[1];
  if (found === undefined) throw new Error('the operator does not say how late its event loop was');
  return Math.round(Number(found) * 1000);
}
