import { noStrings, type Pod, type StringMap } from './pod.ts';

/** Prometheus makes label names of annotations, so `prometheus.io/port`, `prometheus.io.port` and `prometheus-io/port` are one to it. */
function sanitized(name: string): string {
  return name.startsWith('prometheus') ? name.replace(/[^a-zA-Z0-9_]/g, '_') : '';
}

const meanings: ReadonlyMap<string, 'scrape' | 'port' | 'path' | 'targets'> = new Map([
  ['prometheus_io_scrape', 'scrape'],
  ['prometheus_io_port', 'port'],
  ['prometheus_io_path', 'path'],
  ['prometheus_istio_io_scrape_targets', 'targets'],
]);

/**
 * What a pod's annotations tell Prometheus, if anything; `targets` are several ones, `port:path`, comma-separated. Of several spellings of one the last
 * in the pod's order counts (in Istio any of them, by chance).
 */
export function readPrometheusAnnotations(pod: Pod) {
  const found: { scrape?: string; port?: string; path?: string; targets?: string } = {};
  for (const [name, value] of Object.entries(pod.metadata.annotations ?? noStrings)) {
    const meaning = meanings.get(sanitized(name));
    if (meaning !== undefined) found[meaning] = value;
  }
  return found;
}

/** The annotations without those that lead to what is scraped, in whatever spelling (Istio's clearPrometheusAnnotations). */
export function withoutPrometheusAnnotations(annotations: StringMap): StringMap {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !meanings.has(sanitized(name))));
}

/** Whether the annotations announce a port with mutual TLS for metrics, in whatever spelling. */
export function hasSecurePort(annotations: StringMap): boolean {
  return Object.keys(annotations).some((name) => sanitized(name) === 'prometheus_istio_io_secure_port');
}
