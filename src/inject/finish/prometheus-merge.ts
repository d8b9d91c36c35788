import { parseBool } from '../annotations/annotation-values.ts';
import { InjectionFailure } from '../injection-failure.ts';
import {
  annotationOf,
  findContainer,
  joinStrings,
  noStrings,
  replaceContainer,
  withAnnotations,
  type Pod,
} from '../pod/pod.ts';
import { trimSpace } from '../../template/functions/sprig/text/strings.ts';
import { quoteString } from '../../template/quote.ts';
import { escapeGoJson } from '../../template/functions/go/json-encode.ts';
import {
  hasSecurePort,
  readPrometheusAnnotations,
  withoutPrometheusAnnotations,
} from '../pod/prometheus-annotations.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { variable } from './environment-and-metadata.ts';

/** The ports of the proxy and its agent, which must not be scraped. */
const reservedPorts: ReadonlyMap<number, string> = new Map([
  [15000, 'Envoy admin'],
  [15001, 'outbound traffic capture'],
  [15004, 'pilot debug'],
  [15006, 'inbound traffic capture'],
  [15008, 'HBONE tunnel'],
  [15020, 'pilot-agent status / merged Prometheus'],
  [15021, 'Envoy health'],
  [15053, 'DNS proxy'],
  [15090, 'Envoy Prometheus (already merged)'],
]);

type ScrapeTarget = Readonly<Record<'port' | 'path', string>>;

/**
 * Merges metrics like Istio's applyPrometheusMerge: moves the pod's Prometheus annotations to a
 * variable of the proxy; new annotations point to the agent, which scrapes application and proxy.
 * @throws InjectionFailure if the annotations name a port that cannot be scraped
 */
export function mergePrometheus(pod: Pod, statusPort: number, meshDefault: unknown): Pod {
  const { scrape = '', path = '', port = '', targets: text } = readPrometheusAnnotations(pod);
  if (parseBool(scrape) === false) return pod;
  if (!isMergeEnabled(pod, meshDefault)) return pod;
  // An earlier injection or the author has set this port.
  if (port === String(statusPort)) return pod;
  const targets = scrapeTargets(text);
  for (const target of targets) refuseReserved(target.port, 'targets: ', 'target port', statusPort);
  if (targets.length === 0 && port !== '') refuseReserved(port, 'configuration: ', 'port', statusPort);
  const proxy = findContainer(pod, proxyContainer);
  let result = pod;
  if (proxy !== undefined && (scrape !== '' || path !== '' || port !== '' || targets.length > 0)) {
    // Older agents scrape only the first target.
    const configuration = { scrape, path, port, ...targets[0], ...(targets.length > 0 && { targets }) };
    const value = escapeGoJson(JSON.stringify(configuration));
    result = replaceContainer(pod, proxy, {
      ...proxy,
      env: [...(proxy.env ?? []), variable('ISTIO_PROMETHEUS_ANNOTATIONS', value)],
    });
  }
  const annotated = joinStrings(withoutPrometheusAnnotations(pod.metadata.annotations ?? noStrings), {
    'prometheus.io/port': String(statusPort),
    'prometheus.io/path': '/stats/prometheus',
    'prometheus.io/scrape': 'true',
  });
  return withAnnotations(result, annotated);
}

/** Returns the value of the pod's annotation, or else the mesh's setting, or else true. */
export function isMergeEnabled(pod: Pod, meshDefault: unknown): boolean {
  const own = annotationOf(pod, 'prometheus.istio.io/merge-metrics');
  const parsed = own === undefined ? undefined : parseBool(own);
  return parsed ?? meshDefault !== false;
}

/** Parses `port:path,…`; returns no targets if a target has no port. */
export function scrapeTargets(text: string | undefined): readonly ScrapeTarget[] {
  const targets: ScrapeTarget[] = [];
  for (const entry of (text ?? '').split(',')) {
    const target = trimSpace(entry);
    if (target === '') continue;
    const colon = target.indexOf(':');
    const port = trimSpace(colon < 0 ? target : target.slice(0, colon));
    const path = colon < 0 ? '' : trimSpace(target.slice(colon + 1));
    if (port === '') return [];
    targets.push({ port, path: path === '' ? '/metrics' : path });
  }
  return targets;
}

function refuseReserved(port: string, what: string, name: string, statusPort: number): void {
  const number = /^[+-]?\d+$/.test(port) ? Number(port) : NaN;
  const reason = reservedPorts.get(number);
  let problem = '';
  if (!(number >= 1 && number <= 65535)) problem = `invalid ${name} ${quoteString(port)}`;
  else if (number === statusPort) problem = `${name} ${port} conflicts with agent port`;
  else if (reason !== undefined) problem = `${name} ${port} is reserved for Istio (${reason}) and cannot be scraped`;
  if (problem === '') return;
  const message = `failed to process pod: invalid prometheus scrape ${what}${problem}`;
  throw new InjectionFailure('InvalidPrometheusConfiguration', message);
}

const securePortVariable = 'ENVOY_SECURE_MERGED_METRICS_PORT';

/**
 * Writes the proxy's mutual-TLS metrics port to an annotation, if the proxy's environment opens
 * this port and the pod has no such annotation (Istio's applySecurePrometheusAnnotation).
 */
export function announceSecurePort(pod: Pod): Pod {
  const annotations = pod.metadata.annotations ?? noStrings;
  const env = findContainer(pod, proxyContainer)?.env ?? [];
  const port = env.find(({ name, value = '' }) => name === securePortVariable && value !== '' && value !== '0')?.value;
  if (port === undefined || hasSecurePort(annotations)) return pod;
  return withAnnotations(pod, joinStrings(annotations, { 'prometheus.istio.io/secure-port': port }));
}
