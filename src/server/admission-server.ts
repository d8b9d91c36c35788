import type { AddressInfo } from 'node:net';
import { exchange, type ExchangeContext } from './admission/admission-exchange.ts';
import type { AdmissionRoute } from './admission/admission-handler.ts';
import { type AdmissionLimits, defaultAdmissionLimits } from './admission-limits.ts';
import { createAdmissionObserver } from './metrics/admission-observer.ts';
import { createAdmissionPipeline } from './admission/admission-pipeline.ts';
import type { FailedInjections } from './metrics/failed-injections.ts';
import { BodyBudget } from './http/body-budget.ts';
import { ConnectionGuard } from './http/connection-guard.ts';
import { DecisionMemory } from './admission/decision-memory.ts';
import { listenOn } from './http/listen-on.ts';
import type { LogPort, MonotonicClock } from './ports.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import { type ServingPairs, createTlsServer } from './http/tls-server.ts';
import { trackConnections } from './http/track-connections.ts';

export interface AdmissionServerOptions {
  readonly bindAddress: string;
  /** Port 0 chooses a free port. */
  readonly port: number;
  readonly routes: readonly AdmissionRoute[];
  readonly certificates: ServingPairs;
  readonly log: LogPort;
  readonly metrics: ServerMetrics;
  readonly clock: MonotonicClock;
  readonly limits?: Partial<AdmissionLimits>;
  /** Records pods that could not be injected. */
  readonly failed?: Pick<FailedInjections, 'note'>;
}

/** While `draining`, each answer closes its connection; while `closing`, requests are refused. */
export type ServerState = 'idle' | 'serving' | 'draining' | 'closing' | 'closed';

export type AdmissionServer = ReturnType<typeof createAdmissionServer>;

/** Creates the listener for the API server: HTTP/1.1 over TLS, with certificates chosen by SNI. */
export function createAdmissionServer(options: AdmissionServerOptions) {
  const { certificates, log, metrics, clock } = options;
  const limits: AdmissionLimits = { ...defaultAdmissionLimits, ...options.limits };
  const observer = createAdmissionObserver(log, metrics, clock, options.failed);
  const budget = new BodyBudget({ bytes: limits.maxBufferedBytes, bodies: limits.maxConcurrentBodies });
  const guard = new ConnectionGuard(limits, () => metrics.dropped('pressure'));
  const memory = new DecisionMemory(limits.decisions);
  const server = createTlsServer(limits, certificates, log);
  let state: ServerState = 'idle';
  let inFlight = 0;
  const context: ExchangeContext = {
    admit: createAdmissionPipeline({ routes: options.routes, jsonBounds: limits.jsonBounds, memory, observer }),
    limits,
    budget,
    sockets: trackConnections(server, guard, metrics, limits),
    metrics,
    clock,
    leaving: () => state !== 'serving',
    closing: () => state === 'closing' || state === 'closed',
    ended() {
      inFlight--;
    },
  };
  metrics.readFrom(
    () => ({
      inFlight,
      bufferedBytes: budget.used,
      rememberedBytes: memory.bytes,
      connections: guard.size,
      unprovenConnections: guard.unproven,
    }),
    () => certificates.expiries(),
  );
  server.on('request', (request, response) => {
    inFlight++;
    exchange(context, request, response);
  });
  return {
    get state() {
      return state;
    },
    /** The bound address; undefined until `listen` succeeds. */
    get address() {
      const address = server.address() as AddressInfo | null;
      return address === null ? undefined : { address: address.address, port: address.port };
    },
    /** @throws ConfigurationError if the address or port cannot be used */
    async listen() {
      await listenOn(server, options.bindAddress, options.port, 'the admission webhook');
      state = 'serving';
    },
    /** Sends `Connection: close` with every answer, so that clients move to other replicas. */
    drain() {
      if (state === 'serving') state = 'draining';
    },
    /**
     * Stops accepting, closes idle connections, and waits up to `timeout` milliseconds for requests
     * in flight. To lose no request, first drain, and wait until load balancers have reacted.
     */
    async close(timeout: number) {
      if (state === 'closing' || state === 'closed') return;
      state = 'closing';
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => guard.destroyAll(), timeout);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      state = 'closed';
    },
  };
}
