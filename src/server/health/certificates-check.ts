import { verifyServingPair, type ParsedPair } from '../../certs/verify-chain.ts';
import type { ServerState } from '../admission-server.ts';
import type { ReadinessCheck } from './readiness.ts';
import { connect } from 'node:tls';

/**
 * Returns a check that a TLS handshake with the listener succeeds, and will do so for a while; a
 * bound port is not enough.
 */
export function listenerCheck(server: {
  readonly address: { readonly address: string; readonly port: number } | undefined;
  readonly state?: ServerState;
}): ReadinessCheck {
  return {
    name: 'listener',
    check() {
      const bound = server.address;
      if (bound === undefined) return 'the listener has not started';
      if (server.state === 'leaving') return 'the port will be closed';
      return new Promise((resolve) => {
        // Another check verifies the certificates, and this connection has no server name.
        const socket = connect({ host: reachable(bound.address), port: bound.port, rejectUnauthorized: false }, () => {
          // Destroying the socket immediately would count as a failed handshake.
          socket.end(() => socket.destroy());
          resolve(undefined);
        });
        socket.on('error', (error: NodeJS.ErrnoException) => {
          socket.destroy();
          resolve(`the TLS handshake failed: ${reasonOf(error)}`);
        });
      });
    },
  };
}

/** Explains the alert of a listener without a certificate; OpenSSL's message gives no cause. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
    ? 'the replica has no serving certificate'
    : error.message;
}

/** Returns an address to connect to; wildcard addresses are only for binding. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

/** The time after which a valid pair is verified again, in milliseconds. */
const recheckMs = 60_000;

/**
 * Returns a check that each serving certificate verifies against the authorities in its own Secret.
 * It ignores the webhooks' caBundle and the expiry, because otherwise an edit of a caBundle, or
 * an expired certificate, would make every replica unready. A metric reports the expiry.
 */
export function certificatesCheck(
  certificates: { all(): readonly (ParsedPair & { readonly owner: string })[] },
  now: () => Date,
): Omit<ReadinessCheck, 'check'> & { check(): string | undefined } {
  const validAt = new WeakMap<ParsedPair, number>();
  return {
    name: 'certificates',
    check() {
      const at = now();
      for (const pair of certificates.all()) {
        const checkedAt = validAt.get(pair);
        if (checkedAt !== undefined && Math.abs(at.getTime() - checkedAt) < recheckMs) continue;
        const faults = verifyServingPair(pair, { now: at });
        const fault = faults.find(({ reason }) => reason !== 'Expired' && reason !== 'NotYetValid');
        if (fault !== undefined) return `Secret ${pair.owner}: ${fault.message}`;
        validAt.set(pair, at.getTime());
      }
      return undefined;
    },
  };
}
