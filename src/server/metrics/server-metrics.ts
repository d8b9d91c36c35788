import type { Registry } from 'prom-client';
import type { AdmissionDecision } from '../admission/admission-decision.ts';
import { registerMetrics } from './register-metrics.ts';

/** Readings that are taken when somebody scrapes. */
export interface ServerReadings {
  readonly inFlight: number;
  readonly bufferedBytes: number;
  /** Of remembered decisions. */
  readonly rememberedBytes: number;
  readonly connections: number;
  readonly unprovenConnections: number;
}

/**
 * The listener's metrics. Labels are bounded: kinds of paths, status codes, the names of InjectorConfigs, outcomes and reasons that are enumerated.
 * `sidecar_injection_*` are Istio's names, for dashboards that exist; unlike Istio's, its success counter counts injections only.
 */
export class ServerMetrics {
  readonly #metrics;
  readonly #istio;
  #readings: () => ServerReadings | undefined = () => undefined;
  #expiries: () => Iterable<readonly [serverName: string, notAfter: Date]> = () => [];

  constructor(registry: Registry) {
    const { counter, histogram, gauge, series } = registerMetrics(registry);
    const decisionsHelp =
      'Decided admissions by InjectorConfig, outcome (injected, skipped, allowed, failed, …) and reason.';
    const tracksHelp =
      'Decided admissions in rollouts, by the InjectorConfig that decided, whether it is the stable one or the canary, and outcome.';
    const comparisonsHelp =
      'Pods that were to be rendered by both configurations of a rollout, by the InjectorConfig that is tried and what came of it: same, changed, failed (by the canary only), dropped (there was no time).';
    const durationHelp = 'Time from the head of a request to its answer, by kind of path.';
    const lossesHelp = 'Connections that the listener closed before a review on them was answered, by reason.';
    this.#metrics = {
      requests: counter('injector_admission_requests_total', 'Answered requests, by HTTP status.', 'path', 'code'),
      decisions: counter('injector_admission_decisions_total', decisionsHelp, 'path', 'injector', 'outcome', 'reason'),
      tracks: counter('injector_rollout_admissions_total', tracksHelp, 'injector', 'track', 'outcome'),
      comparisons: counter('injector_rollout_comparisons_total', comparisonsHelp, 'injector', 'outcome'),
      reused: counter('injector_admission_decisions_reused_total', 'Decisions given again for the same bytes.'),
      duration: histogram('injector_admission_duration_seconds', durationHelp, durationBuckets, 'path'),
      bodyBytes: histogram('injector_admission_body_bytes', 'Size of the received reviews.', byteBuckets),
      answerBytes: histogram('injector_admission_answer_bytes', 'Size of the answers, mostly the patch.', byteBuckets),
      handshakes: counter('injector_tls_handshakes_total', 'TLS handshakes by result: ok, failed.', 'result'),
      losses: counter('injector_connections_dropped_total', lossesHelp, 'reason'),
    };
    this.#istio = {
      requests: counter('sidecar_injection_requests_total', "Istio's name: requests about pods."),
      success: counter('sidecar_injection_success_total', "Istio's name: injected pods; Istio adds skipped ones."),
      failure: counter('sidecar_injection_failure_total', "Istio's name: pods refused by a failure."),
      skip: counter('sidecar_injection_skip_total', "Istio's name: pods that were left alone."),
      seconds: histogram('sidecar_injection_time_seconds', "Istio's name: time to inject a pod.", durationBuckets),
    };
    const reading = (name: keyof ServerReadings) => (): number => this.#readings()?.[name] ?? 0;
    const rememberedHelp = 'Bytes of reviews and answers kept to be given again.';
    const unprovenHelp = 'Open connections on which no review was answered yet.';
    gauge('injector_admission_in_flight', 'Requests whose answer is not sent yet.', reading('inFlight'));
    gauge('injector_admission_buffered_bytes', 'Bytes of bodies that are being received.', reading('bufferedBytes'));
    gauge('injector_admission_remembered_bytes', rememberedHelp, reading('rememberedBytes'));
    gauge('injector_connections', 'Open connections.', reading('connections'));
    gauge('injector_connections_unproven', unprovenHelp, reading('unprovenConnections'));
    const expiryHelp = 'End of validity of each served leaf, in seconds since 1970.';
    series('injector_serving_certificate_not_after_seconds', expiryHelp, ['server_name'], () =>
      [...this.#expiries()].map(([server_name, notAfter]) => [{ server_name }, notAfter.getTime() / 1000]),
    );
  }

  /** Where the gauges read from: the server, once there is one. */
  readFrom(readings: () => ServerReadings, expiries: () => Iterable<readonly [string, Date]>): void {
    this.#readings = readings;
    this.#expiries = expiries;
  }

  /** A request was answered. */
  answered(path: string, code: number, seconds: number, bodyBytes: number, answerBytes: number): void {
    this.#metrics.requests.inc({ path, code });
    this.#metrics.duration.observe({ path }, seconds);
    if (bodyBytes === 0) return;
    this.#metrics.bodyBytes.observe(bodyBytes);
    this.#metrics.answerBytes.observe(answerBytes);
  }

  /** A handler has decided; `seconds` is what the decision took. */
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

  /** A decision, counted by {@link ServerMetrics.decided}, was one that had been made before. */
  reused(): void {
    this.#metrics.reused.inc();
  }

  /** An admission in a rollout was to be compared. @param canary the InjectorConfig that is tried */
  compared(canary: string, outcome: 'same' | 'changed' | 'failed' | 'dropped'): void {
    this.#metrics.comparisons.inc({ injector: canary, outcome });
  }

  handshake(result: 'ok' | 'failed'): void {
    this.#metrics.handshakes.inc({ result });
  }

  /** The listener closed a connection, or did not let it get that far. */
  dropped(reason: 'handshake' | 'headers' | 'pressure'): void {
    this.#metrics.losses.inc({ reason });
  }
}

const durationBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const byteBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16_384].map((kibibytes) => kibibytes * 1024);
