import assert from 'node:assert/strict';
import { noAnswer } from './api-error.ts';
import { requireServerVersion } from './server-version.ts';
import { capturingLogger } from './testdata/capturing-logger.ts';

describe('requireServerVersion', () => {
  const logger = capturingLogger();
  beforeEach(() => {
    logger.lines.length = 0;
  });
  const check = (version: unknown): Promise<void> =>
    requireServerVersion({ request: () => Promise.resolve(version) }, logger);

  for (const version of ['1.30', '1.30+', '1.36', '2.0', '.', 'one.two']) {
    it(`accepts ${version}`, async () => {
      const [major, minor] = version.split('.');
      await check({ major, minor });
    });
  }

  for (const version of [
    { major: '1', minor: '29', gitVersion: 'v1.29.4' },
    { major: '1', minor: '9+' },
    { major: '0', minor: '99' },
  ]) {
    it(`refuses ${version.major}.${version.minor}`, async () => {
      await assert.rejects(
        check(version),
        /^ConfigurationError: the API server is Kubernetes v?[\d.]+; the operator needs 1\.30 or later .*: upgrade the cluster first$/,
      );
    });
  }

  it('continues if there is no response, or if the response is unreadable', async () => {
    const request = (): Promise<never> => Promise.reject(noAnswer('Unreachable', 'down'));
    await requireServerVersion({ request }, logger);
    assert.equal(logger.lines.map(({ level }) => level).join(), 'warn');
    await check('<html>');
    await check(undefined);
  });
});
