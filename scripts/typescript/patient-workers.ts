/**
 * For mocha's workers: a second after their last test they get SIGTERM, and on a busy machine they need longer than that to write what they have covered. Then
 * coverage is too low though every test passed.
 */
export const mochaHooks = {
  beforeAll(): void {
    const isWorker = process.send !== undefined;
    if (isWorker && process.listenerCount('SIGTERM') === 0) process.on('SIGTERM', () => undefined);
  },
};
