/**
 * For mocha's workers: they ignore the SIGTERM that mocha sends a second after their last test. On
 * a busy machine, writing the coverage takes longer, and incomplete coverage would fail the run.
 */
export const mochaHooks = {
  beforeAll(): void {
    const isWorker = process.send !== undefined;
    if (isWorker && process.listenerCount('SIGTERM') === 0) process.on('SIGTERM', () => undefined);
  },
};
