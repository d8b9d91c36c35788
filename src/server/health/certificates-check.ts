import { verifyServingPair, type ServingPair } from '../../certs/verify-chain.ts';
import type { ReadinessCheck } from './readiness.ts';
import { connect } from 'node:tls';

/** Readiness needs more than a bound port: a handshake with the listener must succeed (Istio was once ready before its webhook listened). */
export function listenerCheck(server: {
  readonly address: { readonly address: string; readonly port: number } | undefined;
}): ReadinessCheck {
  return {
    name: 'listener',
    check() {
      const bound = server.address;
      if (bound === undefined) return 'does not listen yet';
      return new Promise((resolve) => {
        // Who it proves to be is another check's business; and it has no name that we could ask for here.
        const socket = connect({ host: reachable(bound.address), port: bound.port, rejectUnauthorized: false }, () => {
          // Not destroyed at once: the listener would count a handshake that failed.
          socket.end(() => socket.destroy());
          resolve(undefined);
        });
        socket.on('error', (error: NodeJS.ErrnoException) => {
          socket.destroy();
          resolve(`no TLS handshake: ${reasonOf(error)}`);
        });
      });
    },
  };
}

/** A listener without any certificate answers with this alert; OpenSSL's own words would not tell a person that. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
    ? 'there is no certificate to serve yet'
    : error.message;
}

/** The wildcard addresses are for binding, not for connecting to. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

/** A pair that was found good is looked at again after this long. Milliseconds. */
const againMs = 60_000;

/**
 * Each certificate that is served must verify against the authorities in its own Secret, never against a webhook configuration: one foreign edit of
 * a caBundle must not take every replica out of service. Nor does one that has expired, which has done so on every replica; its own metric tells.
 */
export function certificatesCheck(
  certificates: { all(): readonly (ServingPair & { readonly owner: string })[] },
  now: () => Date,
): Omit<ReadinessCheck, 'check'> & { check(): string | undefined } {
  const goodAt = new WeakMap<ServingPair, number>();
  return {
    name: 'certificates',
    check() {
      const at = now();
      for (const pair of certificates.all()) {
        const checkedAt = goodAt.get(pair);
        if (checkedAt !== undefined && Math.abs(at.getTime() - checkedAt) < againMs) continue;
        // The clock of this replica may be the one that is wrong.
        const faults = verifyServingPair(pair, { now: at });
        const fault = faults.find(({ reason }) => reason !== 'Expired' && reason !== 'NotYetValid');
        if (fault !== undefined) return `Secret ${pair.owner}: ${fault.message}`;
        goodAt.set(pair, at.getTime());
      }
      return undefined;
    },
  };
}
