import { once } from 'node:events';
import type { Server } from 'node:net';
import { ConfigurationError } from '../../api/errors.ts';

/** What is wrong with the address, for the errors that only another address mends. */
const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process: stop it, or choose another port',
  EACCES: 'may not be bound by this user: choose a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/**
 * Starts listening.
 * @param role what the port is for, as the message says it: `the admission webhook`
 * @throws ConfigurationError naming the address when it cannot be used
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
