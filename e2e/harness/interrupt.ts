/**
 * Calls `end` on SIGINT or SIGTERM, then exits with the usual code (128 + signal). A second Ctrl-C
 * exits immediately; the guard or the next run then ends the remaining processes.
 *
 * @returns a function that stops listening
 */
export function onInterrupt(end: () => Promise<unknown>): () => void {
  let ending = false;
  const handler = (signal: NodeJS.Signals) => {
    const status = signal === 'SIGINT' ? 130 : 143;
    if (ending) process.exit(status);
    ending = true;
    process.stderr.write(`\n${signal}: stopping …\n`);
    void end()
      .catch(() => undefined)
      .finally(() => process.exit(status));
  };
  process.on('SIGINT', handler).on('SIGTERM', handler);
  return () => process.off('SIGINT', handler).off('SIGTERM', handler);
}
