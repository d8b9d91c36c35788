import type { HttpAnswer } from '../http/http-answer.ts';
import { checkReadiness, type ReadinessCheck } from './readiness.ts';

/** What a scrape gets; prom-client's Registry is one. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface ProbeSources {
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: MetricsSource;
  /** For each check, in milliseconds. */
  readonly checkTimeout: number;
}

/**
 * `/healthz`: the process answers, no more; a process that is merely not ready must not be restarted. `/readyz`: every check holds. `/metrics`: for Prometheus.
 */
export async function answerProbe(method: string, url: string, sources: ProbeSources): Promise<HttpAnswer> {
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET', { Allow: 'GET, HEAD' });
  const [path] = url.split('?', 1);
  switch (path) {
    case '/healthz':
      return plain(200, 'ok');
    case '/readyz': {
      const { ready, lines } = await checkReadiness(sources.checks, sources.checkTimeout);
      return plain(ready ? 200 : 503, [...lines, ready ? 'ready' : 'not ready'].join('\n'));
    }
    case '/metrics':
      return {
        status: 200,
        headers: { 'Content-Type': sources.metrics.contentType },
        body: await sources.metrics.metrics(),
        close: false,
      };
    default:
      return plain(404, 'no such path; there are /healthz, /readyz and /metrics');
  }
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers },
    body: `${text}\n`,
    close: false,
  };
}
