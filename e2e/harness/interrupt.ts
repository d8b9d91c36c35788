/**
 * Ends things in order when the user presses Ctrl-C or the process is asked to end, then exits as a shell expects (128 + signal).
 * A second Ctrl-C exits at once; what is left then is ended by the guard or by the next run.
 *
 * @returns stops listening
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
  return () => {
    process.off('SIGINT', handler).off('SIGTERM', handler);
  };
}
