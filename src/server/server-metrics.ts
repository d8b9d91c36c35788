import { Counter, Gauge, type Registry } from 'prom-client';
import type { AdmissionDecision } from './admission-decision.ts';
import { TalliedCounter } from './tallied-counter.ts';
import { TalliedHistogram } from './tallied-histogram.ts';

/** Readings that are taken when somebody scrapes. */
export interface ServerReadings {
  readonly inFlight: number;
  readonly bufferedBytes: number;
  /** Of remembered decisions. */
  readonly rememberedBytes: number;
  readonly connections: number;
  readonly unprovenConnections: number;
}

/** Why the listener closed a connection, or did not let it get that far. */
export type ConnectionLoss = 'handshake' | 'headers' | 'pressure' | 'body';

/**
 * The listener's metrics. Labels are bounded: kinds of paths, status codes, the names of InjectorConfigs, outcomes and reasons that are enumerated.
 * `sidecar_injection_*` are Istio's names, for dashboards that exist; unlike Istio's, its success counter counts injections only.
 */
export class ServerMetrics {
  readonly #requests;
  readonly #decisions;
  readonly #reused;
  readonly #tracks;
  readonly #comparisons;
  readonly #duration;
  readonly #bodyBytes;
  readonly #answerBytes;
  readonly #handshakes;
  readonly #losses;
  readonly #istio;
  readonly #istioSeconds;
  #readings: () => ServerReadings = () => ({
    inFlight: 0,
    bufferedBytes: 0,
    rememberedBytes: 0,
    connections: 0,
    unprovenConnections: 0,
  });
  #expiries: () => Iterable<readonly [serverName: string, notAfter: Date]> = () => [];

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new TalliedCounter({
      name: 'injector_admission_requests_total',
      help: 'Answered requests by kind of path and HTTP status code.',
      labelNames: ['path', 'code'],
      registers,
    });
    this.#decisions = new TalliedCounter({
      name: 'injector_admission_decisions_total',
      help: 'Decided admissions by InjectorConfig, outcome and reason.',
      labelNames: ['path', 'injector', 'outcome', 'reason'],
      registers,
    });
    this.#tracks = new TalliedCounter({
      name: 'injector_rollout_admissions_total',
      help: 'Decided admissions in rollouts, by the InjectorConfig that decided, whether it is the stable one or the canary, and outcome.',
      labelNames: ['injector', 'track', 'outcome'],
      registers,
    });
    this.#comparisons = new Counter({
      name: 'injector_rollout_comparisons_total',
      help: 'Pods that were to be rendered by both configurations of a rollout, by the InjectorConfig that is tried and what came of it.',
      labelNames: ['injector', 'outcome'],
      registers,
    });
    this.#reused = new Counter({
      name: 'injector_admission_decisions_reused_total',
      help: 'Decisions that were given again, for a review of the same bytes.',
      registers,
    });
    this.#duration = new TalliedHistogram({
      name: 'injector_admission_duration_seconds',
      help: 'Time from the head of a request to its answer, by kind of path.',
      buckets: durationBuckets,
      byPath: true,
      registers,
    });
    this.#bodyBytes = new TalliedHistogram({
      name: 'injector_admission_body_bytes',
      help: 'Size of the received reviews.',
      buckets: byteBuckets,
      registers,
    });
    this.#answerBytes = new TalliedHistogram({
      name: 'injector_admission_answer_bytes',
      help: 'Size of the answered reviews, which is mostly the patch.',
      buckets: byteBuckets,
      registers,
    });
    this.#handshakes = new Counter({
      name: 'injector_tls_handshakes_total',
      help: 'TLS handshakes by result.',
      labelNames: ['result'],
      registers,
    });
    this.#losses = new Counter({
      name: 'injector_connections_dropped_total',
      help: 'Connections that the listener closed before a review on them was answered, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#istio = {
      requests: istioCounter('requests', 'Injection requests.', registers),
      success: istioCounter('success', 'Pods that were injected.', registers),
      failure: istioCounter('failure', 'Pods that were refused because injecting them failed.', registers),
      skip: istioCounter('skip', 'Pods that were left alone.', registers),
    };
    this.#istioSeconds = new TalliedHistogram({
      name: 'sidecar_injection_time_seconds',
      help: 'Time to inject a pod.',
      buckets: durationBuckets,
      registers,
    });
    this.#gauges(registers);
  }

  /** Where the gauges read from: the server, once there is one. */
  readFrom(readings: () => ServerReadings, expiries: () => Iterable<readonly [string, Date]>): void {
    this.#readings = readings;
    this.#expiries = expiries;
  }

  /** A request was answered. */
  answered(path: string, code: number, seconds: number, bodyBytes: number, answerBytes: number): void {
    const key = `${code} ${path}`;
    if (!this.#requests.increment(key)) this.#requests.introduce(key, { path, code });
    this.#duration.note(path, seconds);
    if (bodyBytes === 0) return;
    this.#bodyBytes.note('', bodyBytes);
    this.#answerBytes.note('', answerBytes);
  }

  /** A handler has decided; `seconds` is what the decision took. */
  decided(path: string, decision: AdmissionDecision, seconds: number): void {
    const { outcome, reason, injector, track } = decision;
    const name = injector?.name ?? '';
    const key = `${path} ${name} ${outcome} ${reason}`;
    if (!this.#decisions.increment(key)) this.#decisions.introduce(key, { path, injector: name, outcome, reason });
    if (injector === undefined) return;
    if (track !== undefined) {
      const tracked = `${track} ${name} ${outcome}`;
      if (!this.#tracks.increment(tracked)) this.#tracks.introduce(tracked, { injector: name, track, outcome });
    }
    this.#istio.requests.inc();
    if (outcome === 'injected') this.#istio.success.inc();
    else if (outcome === 'skipped') this.#istio.skip.inc();
    else if (outcome === 'failed') this.#istio.failure.inc();
    if (outcome === 'injected') this.#istioSeconds.note('', seconds);
  }

  /** A decision, counted by {@link ServerMetrics.decided}, was one that had been made before. */
  reused(): void {
    this.#reused.inc();
  }

  /** An admission in a rollout was to be compared; see `ComparisonObserver`. */
  compared(canary: string, outcome: 'same' | 'changed' | 'failed' | 'dropped'): void {
    this.#comparisons.inc({ injector: canary, outcome });
  }

  handshake(result: 'ok' | 'failed'): void {
    this.#handshakes.inc({ result });
  }

  dropped(reason: ConnectionLoss): void {
    this.#losses.inc({ reason });
  }

  #gauges(registers: Registry[]): void {
    const reading = (name: string, help: string, read: (readings: ServerReadings) => number): void => {
      const readings = (): number => read(this.#readings());
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(readings());
        },
      });
    };
    reading('injector_admission_in_flight', 'Requests whose answer is not sent yet.', (now) => now.inFlight);
    reading(
      'injector_admission_buffered_bytes',
      'Bytes of bodies that are being received.',
      (now) => now.bufferedBytes,
    );
    reading(
      'injector_admission_remembered_bytes',
      'Bytes of reviews and answers kept to be given again.',
      (now) => now.rememberedBytes,
    );
    reading('injector_connections', 'Open connections.', (now) => now.connections);
    reading(
      'injector_connections_unproven',
      'Open connections on which no review was answered yet.',
      (now) => now.unprovenConnections,
    );
    const expiries = (): Iterable<readonly [string, Date]> => this.#expiries();
    new Gauge({
      name: 'injector_serving_certificate_not_after_seconds',
      help: 'End of validity of each served leaf, in seconds since 1970.',
      labelNames: ['server_name'],
      registers,
      collect() {
        this.reset();
        for (const [serverName, notAfter] of expiries())
          this.set({ server_name: serverName }, notAfter.getTime() / 1000);
      },
    });
  }
}

const durationBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const byteBuckets = [1, 4, 16, 64, 256, 1024, 4096, 16_384].map((kibibytes) => kibibytes * 1024);

function istioCounter(word: string, help: string, registers: Registry[]): Counter {
  return new Counter({ name: `sidecar_injection_${word}_total`, help, registers });
}
