import { connect } from 'node:tls';
import type { ReadinessCheck } from './readiness.ts';

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
          socket.destroy();
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
