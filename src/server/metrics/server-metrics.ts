import type { Registry } from 'prom-client';
import type { AdmissionDecision } from '../admission/admission-decision.ts';
import { registerMetrics } from './register-metrics.ts';

/** Values that the server reads at each scrape. */
export interface ServerReadings {
  readonly inFlight: number;
  readonly bufferedBytes: number;
  /** The size of the cached decisions, in bytes. */
  readonly rememberedBytes: number;
  readonly connections: number;
  readonly unprovenConnections: number;
}

/**
 * The listener's metrics. All labels are bounded: kinds of paths, status codes, names of
 * InjectorConfigs, outcomes and reasons. Istio's names `sidecar_injection_*` serve existing
 * dashboards; unlike Istio, the success counter counts only injected pods.
 */
export class ServerMetrics {
  readonly #metrics;
  readonly #istio;
  #readings: () => ServerReadings | undefined = () => undefined;
  #expiries: () => Iterable<readonly [serverName: string, notAfter: Date]> = () => [];

  constructor(registry: Registry) {
    const { counter, histogram, gauge, series } = registerMetrics(registry);
    const decisionsHelp = 'Admission decisions by InjectorConfig, outcome (injected, skipped, failed, …) and reason.';
    const tracksHelp = 'Admission decisions during rollouts, by InjectorConfig, track (stable or canary) and outcome.';
    const comparisonsHelp =
      'Comparisons of stable and canary pods, by InjectorConfig of the canary and outcome: same, changed, failed (only the canary failed), dropped (not compared for lack of time).';
    const durationHelp = 'Time from receiving the head of a request to its answer, by kind of path.';
    const lossesHelp = 'Connections that the server closed before it answered a review on them, by reason.';
    this.#metrics = {
      requests: counter('injector_admission_requests_total', 'Requests by path and HTTP status.', 'path', 'code'),
      decisions: counter('injector_admission_decisions_total', decisionsHelp, 'path', 'injector', 'outcome', 'reason'),
      tracks: counter('injector_rollout_admissions_total', tracksHelp, 'injector', 'track', 'outcome'),
      comparisons: counter('injector_rollout_comparisons_total', comparisonsHelp, 'injector', 'outcome'),
      reused: counter('injector_admission_decisions_reused_total', 'Decisions from the cache.'),
      duration: histogram('injector_admission_duration_seconds', durationHelp, durationBuckets, 'path'),
      bodyBytes: histogram('injector_admission_body_bytes', 'Size of received reviews.', byteBuckets),
      answerBytes: histogram('injector_admission_answer_bytes', 'Size of answers, mostly the patch.', byteBuckets),
      handshakes: counter('injector_tls_handshakes_total', 'TLS handshakes by result: ok, failed.', 'result'),
      losses: counter('injector_connections_dropped_total', lossesHelp, 'reason'),
    };
    this.#istio = {
      requests: counter('sidecar_injection_requests_total', 'Injection requests (name from Istio).'),
      success: counter('sidecar_injection_success_total', 'Injected pods (name from Istio, which adds skipped pods).'),
      failure: counter('sidecar_injection_failure_total', 'Pods refused because injection failed (name from Istio).'),
      skip: counter('sidecar_injection_skip_total', 'Pods that were not injected (name from Istio).'),
      seconds: histogram('sidecar_injection_time_seconds', 'Time to inject a pod (name from Istio).', durationBuckets),
    };
    const reading = (name: keyof ServerReadings) => (): number => this.#readings()?.[name] ?? 0;
    const rememberedHelp = 'Bytes of reviews and answers in the decision cache.';
    const unprovenHelp = 'Open connections on which no review has been answered.';
    gauge('injector_admission_in_flight', 'Requests that have not been answered.', reading('inFlight'));
    gauge('injector_admission_buffered_bytes', 'Bytes of bodies in transfer.', reading('bufferedBytes'));
    gauge('injector_admission_remembered_bytes', rememberedHelp, reading('rememberedBytes'));
    gauge('injector_connections', 'Open connections.', reading('connections'));
    gauge('injector_connections_unproven', unprovenHelp, reading('unprovenConnections'));
    const expiryHelp = 'Expiry of each serving certificate, in seconds since 1970.';
    series('injector_serving_certificate_not_after_seconds', expiryHelp, ['server_name'], () =>
      [...this.#expiries()].map(([server_name, notAfter]) => [{ server_name }, notAfter.getTime() / 1000]),
    );
  }

  /** Sets the functions that the gauges read. */
  readFrom(readings: () => ServerReadings, expiries: () => Iterable<readonly [string, Date]>): void {
    this.#readings = readings;
    this.#expiries = expiries;
  }

  answered(path: string, code: number, seconds: number, bodyBytes: number, answerBytes: number): void {
    this.#metrics.requests.inc({ path, code });
    this.#metrics.duration.observe({ path }, seconds);
    if (bodyBytes === 0) return;
    this.#metrics.bodyBytes.observe(bodyBytes);
    this.#metrics.answerBytes.observe(answerBytes);
  }

  /** Counts a decision. @param seconds the time to decide */
  decided(path: string, { outcome, reason, injector, track }: AdmissionDecision, seconds: number): void {
    const name = injector?.name ?? '';
    this.#metrics.decisions.inc({ path, injector: name, outcome, reason });
    if (injector === undefined) return;
    if (track !== undefined) this.#metrics.tracks.inc({ injector: name, track, outcome });
    this.#istio.requests.inc();
    if (outcome === 'injected') {
      this.#istio.success.inc();
      this.#istio.seconds.observe(seconds);
    } else if (outcome === 'skipped') this.#istio.skip.inc();
    else if (outcome === 'failed') this.#istio.failure.inc();
  }

  /** Counts a decision from the cache, in addition to {@link ServerMetrics.decided}. */
  reused(): void {
    this.#metrics.reused.inc();
  }

  /** Counts a comparison in a rollout. @param canary the InjectorConfig of the canary */
  compared(canary: string, outcome: 'same' | 'changed' | 'failed' | 'dropped'): void {
    this.#metrics.comparisons.inc({ injector: canary, outcome });
  }

  handshake(result: 'ok' | 'failed'): void {
    this.#metrics.handshakes.inc({ result });
  }

  dropped(reason: 'handshake' | 'headers' | 'pressure'): void {
    this.#metrics.losses.inc({ reason });
  }
}

const durationBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const byteBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16_384].map((kibibytes) => kibibytes * 1024);
