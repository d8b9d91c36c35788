import { annotationOf, noStrings, type Pod, type StringMap } from './pod.ts';

/** Prometheus makes label names of annotations, so `prometheus.io/port`, `prometheus.io.port` and `prometheus-io/port` are one to it. */
function sanitized(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_');
}

const scrapeName = 'prometheus_io_scrape';
const portName = 'prometheus_io_port';
const pathName = 'prometheus_io_path';
const names: ReadonlySet<string> = new Set([scrapeName, portName, pathName]);

function isPrometheusName(name: string): boolean {
  return name.startsWith('prometheus') && names.has(sanitized(name));
}

/** What a pod's annotations tell Prometheus, if anything. Of several spellings of one the last in the pod's order counts. */
export function readPrometheusAnnotations(pod: Pod) {
  const found = new Map<string, string>();
  const annotations = pod.metadata.annotations ?? noStrings;
  for (const name of Object.keys(annotations)) {
    if (isPrometheusName(name)) found.set(sanitized(name), annotations[name] ?? '');
  }
  return { scrape: found.get(scrapeName), port: found.get(portName), path: found.get(pathName) };
}

/** Several targets: `port:path`, comma-separated. */
const targetsAnnotation = 'prometheus.istio.io/scrape-targets';

/** The annotations without those that lead to what is scraped, in whatever spelling. */
export function withoutPrometheusAnnotations(annotations: StringMap): StringMap {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name]) => name !== targetsAnnotation && !isPrometheusName(name)),
  );
}

/** The annotation that names several targets. */
export function scrapeTargetsOf(pod: Pod): string | undefined {
  return annotationOf(pod, targetsAnnotation);
}
