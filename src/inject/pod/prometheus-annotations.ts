import { noStrings, type Pod, type StringMap } from './pod.ts';

/** Normalizes names like Prometheus: `prometheus.io/port` and `prometheus-io/port` are equal. */
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
 * Returns the pod's Prometheus annotations; `targets` is a comma-separated list of `port:path`. If
 * several spellings exist, the last in the pod's order wins (in Istio, a random spelling).
 */
export function readPrometheusAnnotations(pod: Pod) {
  const found: { scrape?: string; port?: string; path?: string; targets?: string } = {};
  for (const [name, value] of Object.entries(pod.metadata.annotations ?? noStrings)) {
    const meaning = meanings.get(sanitized(name));
    if (meaning !== undefined) found[meaning] = value;
  }
  return found;
}

/** Removes Prometheus annotations in any spelling (Istio's clearPrometheusAnnotations). */
export function withoutPrometheusAnnotations(annotations: StringMap): StringMap {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !meanings.has(sanitized(name))));
}

/** Reports whether an annotation, in any spelling, declares a metrics port with mutual TLS. */
export function hasSecurePort(annotations: StringMap): boolean {
  return Object.keys(annotations).some((name) => sanitized(name) === 'prometheus_istio_io_secure_port');
}
