import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ConnectionGuard } from '../http/connection-guard.ts';
import { type HttpAnswer, textAnswer } from '../http/http-answer.ts';
import { listenOn } from '../http/listen-on.ts';
import type { LogPort } from '../ports.ts';
import { checkReadiness, type ReadinessCheck } from './readiness.ts';
import { writeAnswer } from '../http/write-answer.ts';

export interface HealthServerOptions {
  readonly bindAddress: string;
  /** Port 0 chooses a free port. */
  readonly port: number;
  readonly checks: readonly ReadinessCheck[];
  /** How long `/startupz` waits until the process is ready, in ms; the default is 8 s. */
  readonly startWait?: number;
  /** For example prom-client's Registry. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
  readonly log: LogPort;
}

const maxConnections = 100;

/** The time per check in ms, below the kubelet's timeout, so that the answer names late checks. */
const checkTimeout = 2800;

/** How long `/startupz` waits in ms: below the timeout of the chart's startup probe (10 s). */
const startTimeout = 8000;

/** The time between two looks at the checks of a starting process, in ms. */
const startInterval = 100;

/** Creates the plain HTTP listener for the kubelet and Prometheus. It serves no secrets. */
export function createHealthServer(options: HealthServerOptions) {
  const { log } = options;
  let wasReady: boolean | undefined;
  const server = createServer(
    { maxHeaderSize: 8192, headersTimeout: 10_000, requestTimeout: 10_000 },
    (request, response) => {
      const url = request.url ?? '';
      answerProbe(request.method ?? '', url, options)
        .catch((error: unknown) => {
          log.error('a probe failed', { url, error: error instanceof Error ? error.message : String(error) });
          return textAnswer(500, 'internal error; see the log');
        })
        .then((answer) => {
          if (url.startsWith('/readyz')) noteReadiness(answer.status === 200, answer.body);
          writeAnswer(response, answer, answer.close);
        })
        .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    },
  );
  // The guard closes the oldest connection, so that idle clients cannot lock out the kubelet. A
  // kubelet that cannot connect restarts the pod.
  const guard = new ConnectionGuard({ maxConnections, maxUnprovenConnections: maxConnections }, () => undefined);
  server.on('connection', (socket: Socket) => guard.admit(socket));

  function noteReadiness(ready: boolean, report: string): void {
    if (ready === wasReady) return;
    wasReady = ready;
    if (ready) log.info('ready');
    else log.warn('not ready', { report: report.trim() });
  }

  return {
    /** The bound address; undefined until `listen` succeeds. */
    get address() {
      const address = server.address() as AddressInfo | null;
      return address === null ? undefined : { address: address.address, port: address.port };
    },
    /** @throws ConfigurationError if the address or port cannot be used */
    listen: () => listenOn(server, options.bindAddress, options.port, 'probes and metrics'),
    /** Closes the listener. Call it last: a draining process must still report unready. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Answers `/healthz` (the process runs), `/readyz` (every check passes), `/startupz` (the process
 * runs; waits until it is ready, or for `startTimeout` ms) and `/metrics`. As in Kubernetes'
 * servers, `/readyz?exclude=NAME` leaves a check out.
 */
export async function answerProbe(
  method: string,
  url: string,
  { checks, metrics, startWait = startTimeout }: Pick<HealthServerOptions, 'checks' | 'metrics' | 'startWait'>,
): Promise<HttpAnswer> {
  const plain = (...args: Parameters<typeof textAnswer>): HttpAnswer => ({ ...textAnswer(...args), close: false });
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'use GET', { Allow: 'GET, HEAD' });
  const [path = '', query] = url.split('?', 2);
  switch (path) {
    case '/healthz':
      return plain(200, 'ok');
    case '/readyz': {
      const excluded = new URLSearchParams(query).getAll('exclude');
      const { ready, lines } = await checkReadiness(checks, checkTimeout, excluded);
      return plain(ready ? 200 : 503, [...lines, ready ? 'ready' : 'not ready'].join('\n'));
    }
    case '/startupz':
      // An unready process has started, too: otherwise the kubelet would restart it, for example
      // while the API server is down. The readiness probe comes next, and says what is missing.
      return plain(200, (await untilReady(checks, startWait)) ? 'started' : 'started, but not ready');
    case '/metrics': {
      const headers = { 'Content-Type': metrics.contentType };
      return { status: 200, headers, body: await metrics.metrics(), close: false };
    }
    default:
      return plain(404, 'unknown path; use /healthz, /readyz, /startupz or /metrics');
  }
}

/** Waits until every check passes, at most `limit` ms. Does not keep the process alive. */
async function untilReady(checks: readonly ReadinessCheck[], limit: number): Promise<boolean> {
  const end = performance.now() + limit;
  for (;;) {
    const { ready } = await checkReadiness(checks, Math.min(checkTimeout, Math.max(end - performance.now(), 0)));
    if (ready || performance.now() >= end) return ready;
    await pause(startInterval, undefined, { ref: false });
  }
}
