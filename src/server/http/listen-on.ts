import { once } from 'node:events';
import type { Server } from 'node:net';
import { ConfigurationError } from '../../api/errors.ts';

/** Messages for the errors that the user can fix with another address or port. */
const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process; stop it, or choose another port',
  EACCES: 'cannot be bound by this user; choose a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine; choose another address',
};

/**
 * Starts listening.
 * @param role the purpose of the port in the message, e.g. `the admission webhook`
 * @throws ConfigurationError that names the address, if the address cannot be used
 */
export async function listenOn(server: Server, bindAddress: string, port: number, role: string): Promise<void> {
  server.listen({ host: bindAddress, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    const problem = problems[code];
    if (problem === undefined) throw error;
    throw new ConfigurationError('port', `${bindAddress}:${port} for ${role} ${problem}`, { cause: error });
  }
}
