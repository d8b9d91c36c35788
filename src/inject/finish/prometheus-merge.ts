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
  type StringMap,
} from '../pod/pod.ts';
import { escapeGoJson } from '../../template/functions/go/json-encode.ts';
import {
  readPrometheusAnnotations,
  scrapeTargetsOf,
  withoutPrometheusAnnotations,
} from '../pod/prometheus-annotations.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { variable } from './cluster-environment.ts';
import type { Message } from '../mesh/decode-message.ts';
import { isJsonObject } from '../patch/json-value.ts';

/** The ports that the proxy and its agent hold themselves; scraping them would be wrong or endless. */
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
 * Istio's merging of metrics: what the pod's annotations told Prometheus becomes an environment variable of the proxy, and the annotations
 * lead to the proxy's agent, which scrapes the application and adds its own.
 * @throws InjectionFailure when the annotations name a port that cannot be scraped
 */
export function mergePrometheus(pod: Pod, statusPort: number, meshDefault: unknown): Pod {
  const annotations = readPrometheusAnnotations(pod);
  if (annotations.scrape !== undefined && parseBool(annotations.scrape) === false) return pod;
  if (!isMergeEnabled(pod, meshDefault)) return pod;
  // Set by an earlier injection, or by somebody who knows what they do.
  if (annotations.port === String(statusPort)) return pod;
  const targets = scrapeTargets(scrapeTargetsOf(pod));
  const proxy = findContainer(pod, proxyContainer);
  const { scrape = '', path = '', port = '' } = annotations;
  let result = pod;
  if (proxy !== undefined && (scrape !== '' || path !== '' || port !== '' || targets.length > 0)) {
    refuseReservedPorts(port, targets);
    // Agents that know one target only scrape the first.
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

/** The pod's annotation, else the mesh's setting, else yes. */
export function isMergeEnabled(pod: Pod, meshDefault: unknown): boolean {
  const own = annotationOf(pod, 'prometheus.istio.io/merge-metrics');
  const parsed = own === undefined ? undefined : parseBool(own);
  return parsed ?? meshDefault !== false;
}

/** The targets of `port:path,…`; none when one of them has no port. */
export function scrapeTargets(text: string | undefined): readonly ScrapeTarget[] {
  const targets: ScrapeTarget[] = [];
  for (const entry of (text ?? '').split(',')) {
    const target = entry.trim();
    if (target === '') continue;
    const colon = target.indexOf(':');
    const port = (colon < 0 ? target : target.slice(0, colon)).trim();
    const path = colon < 0 ? '' : target.slice(colon + 1).trim();
    if (port === '') return [];
    targets.push({ port, path: path === '' ? '/metrics' : path });
  }
  return targets;
}

function refuseReservedPorts(port: string, targets: readonly ScrapeTarget[]): void {
  const candidates = [...(port === '' ? [] : [port]), ...targets.map((target) => target.port)];
  for (const candidate of candidates) {
    const number = /^[+-]?\d+$/.test(candidate) ? Number(candidate) : NaN;
    if (!(number >= 1 && number <= 65535)) refuse(`invalid port ${JSON.stringify(candidate)}`);
    const reason = reservedPorts.get(number);
    if (reason !== undefined) refuse(`port ${candidate} is reserved for Istio (${reason}) and cannot be scraped`);
  }
}

function refuse(problem: string): never {
  throw new InjectionFailure(
    'InvalidPrometheusConfiguration',
    `failed to process pod: invalid prometheus scrape configuration: ${problem}`,
  );
}

/** Ports with mutual TLS that proxyMetadata opens for metrics, and the annotations in which scrapers look for them. */
const securePorts: readonly (readonly [variable: string, annotation: string])[] = [
  ['ENVOY_SECURE_MERGED_METRICS_PORT', 'prometheus.istio.io/secure-port'],
  ['ENVOY_SECURE_METRICS_PORT', 'prometheus.istio.io/secure-envoy-port'],
];

/** Announces the proxy's secure ports for metrics, where it has any and the pod does not announce others itself. */
export function announceSecurePorts(pod: Pod, { proxyMetadata }: Message): Pod {
  if (!isJsonObject(proxyMetadata) || findContainer(pod, proxyContainer) === undefined) return pod;
  const announced: Record<string, string> = {};
  for (const [variable, annotation] of securePorts) {
    const port = Object.hasOwn(proxyMetadata, variable) ? proxyMetadata[variable] : '';
    if (typeof port === 'string' && /^[1-9]\d*$/.test(port) && annotationOf(pod, annotation) === undefined)
      announced[annotation] = port;
  }
  if (Object.keys(announced).length === 0) return pod;
  const annotations: StringMap = pod.metadata.annotations ?? noStrings;
  return withAnnotations(pod, { ...annotations, ...announced });
}
