import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Message } from './decode-message.ts';
import { parseGoDuration } from './go-duration.ts';
import { isIP } from 'node:net';

const dns1123Label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i;

/** Returns why a text is not `host:port`, in the words of Istio's ValidateProxyAddress. */
export function proxyAddressProblem(address: string): string | undefined {
  const split = splitHostPort(address);
  const named = address === '' ? '' : `address ${address}: `;
  if ('problem' in split) return `unable to split ${JSON.stringify(address)}: ${named}${split.problem}`;
  if (!/^[+-]?\d+$/.test(split.port)) {
    return `port (${split.port}) is not a number: strconv.Atoi: parsing ${JSON.stringify(split.port)}: invalid syntax`;
  }
  const problem = portProblem(Number(split.port));
  if (problem !== undefined) return problem;
  if (isHostname(split.host) || isIP(split.host) !== 0) return undefined;
  return `${JSON.stringify(split.host)} is not a valid hostname or an IP address`;
}

/** Returns why a number is not a port. */
export function portProblem(port: number): string | undefined {
  return port >= 1 && port <= 65535 ? undefined : `port number ${port} must be in the range 1..65535`;
}

/** Splits like Go's net.SplitHostPort. */
function splitHostPort(address: string): { host: string; port: string } | { problem: string } {
  const colon = address.lastIndexOf(':');
  if (colon < 0) return { problem: 'missing port in address' };
  const port = address.slice(colon + 1);
  if (!address.startsWith('[')) {
    const host = address.slice(0, colon);
    if (host.includes(':')) return { problem: 'too many colons in address' };
    if (/[[\]]/.test(address)) return { problem: `unexpected '${/[[\]]/.exec(address)?.[0] ?? ''}' in address` };
    return { host, port };
  }
  const end = address.indexOf(']');
  if (end < 0) return { problem: "missing ']' in address" };
  if (end + 1 !== colon)
    return { problem: address[end + 1] === ':' ? 'too many colons in address' : 'missing port in address' };
  return { host: address.slice(1, end), port };
}

/** Accepts a fully qualified name whose last label is not a number; allows a trailing dot. */
function isHostname(host: string): boolean {
  if (host === '' || host.length > 255 || /(?:^|\.)\d+$/.test(host)) return false;
  const labels = host.split('.');
  return labels.every(
    (label, index) => (label === '' && index === labels.length - 1) || (label.length <= 63 && dns1123Label.test(label)),
  );
}

/** Returns all problems of a ProxyConfig, like Istio's ValidateMeshConfigProxyConfig. */
export function proxyConfigProblems(config: Message): string[] {
  const problems: string[] = [];
  const check = (prefix: string, problem: string | undefined): void => {
    if (problem !== undefined) problems.push(`${prefix} ${problem}`);
  };
  if (text(config, 'configPath') === '') problems.push('config path must be set');
  if (text(config, 'binaryPath') === '') problems.push('binary path must be set');
  problems.push(...clusterNameProblems(config));
  problems.push(...drainDurationProblems(text(config, 'drainDuration')));
  const discoveryAddress = text(config, 'discoveryAddress');
  if (discoveryAddress === '') problems.push('discovery address must be set to the proxy discovery service');
  else check('invalid discovery address:', proxyAddressProblem(discoveryAddress));
  problems.push(...tracingProblems(child(config, 'tracing')));
  for (const [address, name] of [
    [text(config, 'statsdUdpAddress'), 'statsd udp'],
    [text(config, 'envoyMetricsServiceAddress'), 'envoy metrics service'],
    [text(child(config, 'envoyMetricsService'), 'address'), 'envoy metrics service'],
    [text(child(config, 'envoyAccessLogService'), 'address'), 'envoy access log service'],
  ] as const) {
    if (address !== '') check(`invalid ${name} address ${JSON.stringify(address)}:`, proxyAddressProblem(address));
  }
  check('invalid proxy admin port:', portProblem(number(config, 'proxyAdminPort')));
  check('invalid authentication policy:', authenticationProblem(config.controlPlaneAuthPolicy));
  check('invalid status port:', portProblem(number(config, 'statusPort')));
  const provider = child(config, 'privateKeyProvider');
  for (const problem of provider === undefined ? [] : privateKeyProviderProblems(provider)) {
    problems.push(`invalid private key provider configuration: ${problem}`);
  }
  for (const problem of connectionSettingsProblems(child(config, 'connectionSettings'))) {
    problems.push(`invalid connection settings: ${problem}`);
  }
  return problems;
}

function clusterNameProblems(config: Message): string[] {
  if (Object.hasOwn(config, 'tracingServiceName')) return [];
  if (!Object.hasOwn(config, 'serviceCluster'))
    return ['oneof service cluster or tracing service name must be specified'];
  return config.serviceCluster === '' ? ['service cluster must be specified'] : [];
}

function drainDurationProblems(duration: string): string[] {
  const { seconds, nanos } = parseGoDuration(duration === '' ? '0s' : duration);
  if (seconds <= 0n && !(seconds === 0n && nanos >= 1_000_000)) {
    return ['invalid drain duration: duration must be greater than 1ms'];
  }
  if (nanos % 1_000_000 !== 0) return ['invalid drain duration: only durations to ms precision are supported'];
  return nanos === 0 ? [] : ['drain time only supports durations to seconds precision'];
}

function tracingProblems(tracing: JsonObject | undefined): string[] {
  const problems: string[] = [];
  const lightstep = child(tracing, 'lightstep');
  if (lightstep !== undefined) {
    const address = text(lightstep, 'address');
    if (address === '') problems.push('invalid lightstep config: address is required');
    const problem = proxyAddressProblem(address);
    if (problem !== undefined) problems.push(`invalid lightstep config: invalid lightstep address: ${problem}`);
    if (text(lightstep, 'accessToken') === '') problems.push('invalid lightstep config: access token is required');
  }
  for (const name of ['zipkin', 'datadog']) {
    const collector = child(tracing, name);
    if (collector === undefined) continue;
    // The proxy replaces $(HOST_IP) at run time.
    const problem = proxyAddressProblem(text(collector, 'address').replace('$(HOST_IP)', '127.0.0.1'));
    if (problem !== undefined) problems.push(`invalid ${name} config: ${problem}`);
  }
  const tls = child(tracing, 'tlsSettings');
  if (tls !== undefined) problems.push(...tlsProblems(tls).map((problem) => `invalid tracing TLS config: ${problem}`));
  return problems;
}

function tlsProblems(tls: JsonObject): string[] {
  const problems: string[] = [];
  const simple = tls.mode === 'SIMPLE';
  const mutual = tls.mode === 'MUTUAL';
  const has = (...names: string[]): boolean => names.some((name) => Object.hasOwn(tls, name));
  if (text(tls, 'credentialName').startsWith('configmap://'))
    problems.push('invalid configmap:// credentialName: namespace must match the configuration namespace ""');
  if (tls.insecureSkipVerify === true && simple && has('caCertificates', 'credentialName', 'subjectAltNames')) {
    problems.push(
      'cannot specify CaCertificates or CredentialName or SubjectAltNames when InsecureSkipVerify is set true',
    );
  }
  if (tls.insecureSkipVerify === true && mutual && has('caCertificates', 'subjectAltNames')) {
    problems.push('cannot specify CaCertificates or SubjectAltNames when InsecureSkipVerify is set true');
  }
  if ((simple || mutual) && has('credentialName')) {
    if (has('clientCertificate', 'caCertificates', 'privateKey', 'caCrl')) {
      problems.push('cannot specify client certificates or CA certificate or CA CRL If credentialName is set');
    }
    return problems;
  }
  if (mutual && !has('clientCertificate')) problems.push('client certificate required for mutual tls');
  if (mutual && !has('privateKey')) problems.push('private key required for mutual tls');
  return problems;
}

function authenticationProblem(policy: unknown): string | undefined {
  if (policy === undefined || policy === 'MUTUAL_TLS') return undefined;
  return `unrecognized control plane auth policy ${JSON.stringify(policy)}`;
}

function privateKeyProviderProblems(provider: JsonObject): string[] {
  const chosen = child(provider, 'cryptomb') ?? child(provider, 'qat');
  if (chosen === undefined) return ['private key provider configuration is required', 'unknown private key provider'];
  if (!Object.hasOwn(chosen, 'pollDelay')) return ['pollDelay is required'];
  return chosen.pollDelay === '0s' ? ['pollDelay must be non zero'] : [];
}

/** The minimum of each connection setting. Durations are in seconds. */
const minimumSettings = [
  ...['listener_per_connection_buffer_limit_bytes', 'cluster_per_connection_buffer_limit_bytes', 'http_idle_timeout'],
  ...['http_max_connection_duration', 'http_drain_timeout', 'http_request_timeout', 'http_request_headers_timeout'],
  ...['http_stream_idle_timeout', 'http_max_stream_duration'],
  'http_max_concurrent_streams',
  ...['http2_initial_stream_window_size', 'http2_initial_connection_window_size'],
  ...['listener_connection_limit', 'global_downstream_connection_limit'],
].map((name) => {
  const json = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  if (name.includes('window_size')) return { name, json, minimum: 65535, expected: 'at least 65535' };
  const positive = name.endsWith('limit') || name.endsWith('streams');
  return { name, json, minimum: positive ? 1 : 0, expected: positive ? 'positive' : 'non-negative' };
});

function connectionSettingsProblems(settings: JsonObject = {}): string[] {
  return minimumSettings
    .filter(({ json, minimum }) =>
      typeof settings[json] === 'string' ? settings[json].startsWith('-') : Number(settings[json]) < minimum,
    )
    .map(({ name, expected }) => `${name} must be ${expected}`);
}

function child(parent: Readonly<JsonObject> | undefined, name: string): JsonObject | undefined {
  const value = parent?.[name];
  return isJsonObject(value) ? value : undefined;
}

function text(parent: Readonly<JsonObject> | undefined, name: string): string {
  const value = parent?.[name];
  return typeof value === 'string' ? value : '';
}

function number(parent: Message, name: string): number {
  const value = parent[name];
  return typeof value === 'number' ? value : 0;
}
