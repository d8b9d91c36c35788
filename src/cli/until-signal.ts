/** Resolves at SIGTERM or SIGINT; from then on a second signal ends the process at once. */
export async function untilSignal(onSignal: (signal: NodeJS.Signals) => void): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  const now = (): never => process.exit(1);
  process.on('SIGTERM', now).on('SIGINT', now);
  onSignal(signal);
}
