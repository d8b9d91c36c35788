import { ConfigurationError } from '../api/errors.ts';
import type { ApiClient } from './api-client.ts';
import { messageOf } from './api-error.ts';
import type { Logger } from './ports.ts';

/** The first version with stable matchConditions and ValidatingAdmissionPolicy. */
const oldest = { major: 1, minor: 30 };

/**
 * Checks the version of the API server. Skips the check if the request for the version fails.
 * @throws ConfigurationError when the API server is too old
 */
export async function requireServerVersion(client: Pick<ApiClient, 'request'>, logger: Logger): Promise<void> {
  const version = await client.request('GET', '/version', { timeoutMs: 5000 }).catch((error: unknown) => {
    logger.warn('cannot read the API server version; skipping the version check', { error: messageOf(error) });
    return undefined;
  });
  const { major, minor, gitVersion } = (version ?? {}) as { major?: string; minor?: string; gitVersion?: string };
  // Some distributions report `30+`.
  const [majorNumber, minorNumber] = [Number.parseInt(major ?? '', 10), Number.parseInt(minor ?? '', 10)];
  if (Number.isNaN(majorNumber) || Number.isNaN(minorNumber)) return;
  if (majorNumber > oldest.major || (majorNumber === oldest.major && minorNumber >= oldest.minor)) return;
  const message = `the API server is Kubernetes ${gitVersion ?? `${majorNumber}.${minorNumber}`}; the operator needs ${oldest.major}.${oldest.minor} or later (matchConditions of webhooks): upgrade the cluster first`;
  throw new ConfigurationError('API server', message);
}
