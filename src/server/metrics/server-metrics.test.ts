import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { type AdmissionOutcome, allowed, denied } from '../admission/admission-decision.ts';
import { ServerMetrics } from './server-metrics.ts';

describe('ServerMetrics', () => {
  /** The lines of a scrape that begin so. */
  async function scraped(registry: Registry, name: string): Promise<string[]> {
    const text = await registry.metrics();
    return text.split('\n').filter((line) => line.startsWith(name));
  }

  it('reads gauges when somebody scrapes, and nothing before there is a server', async () => {
    const registry = new Registry();
    const metrics = new ServerMetrics(registry);
    assert.deepEqual(await scraped(registry, 'injector_admission_in_flight'), ['injector_admission_in_flight 0']);
    let certificates: [string, Date][] = [['a.svc', new Date(1000)]];
    metrics.readFrom(
      () => ({ inFlight: 1, bufferedBytes: 2, rememberedBytes: 5, connections: 4, unprovenConnections: 3 }),
      () => certificates,
    );
    assert.deepEqual(await scraped(registry, 'injector_connections'), [
      'injector_connections 4',
      'injector_connections_unproven 3',
    ]);
    assert.deepEqual(await scraped(registry, 'injector_admission_buffered_bytes'), [
      'injector_admission_buffered_bytes 2',
    ]);
    assert.deepEqual(await scraped(registry, 'injector_serving_certificate'), [
      'injector_serving_certificate_not_after_seconds{server_name="a.svc"} 1',
    ]);
    certificates = [];
    assert.deepEqual(await scraped(registry, 'injector_serving_certificate'), []);
  });

  it('counts requests by kind and code, and sizes of those that were read', async () => {
    const registry = new Registry();
    const metrics = new ServerMetrics(registry);
    metrics.answered('revision', 200, 0.002, 5000, 9000);
    metrics.answered('revision', 503, 0.0001, 0, 0);
    metrics.answered('unknown', 404, 0.0001, 0, 0);
    assert.deepEqual(await scraped(registry, 'injector_admission_requests_total'), [
      'injector_admission_requests_total{path="revision",code="200"} 1',
      'injector_admission_requests_total{path="revision",code="503"} 1',
      'injector_admission_requests_total{path="unknown",code="404"} 1',
    ]);
    assert.deepEqual(await scraped(registry, 'injector_admission_body_bytes_sum'), [
      'injector_admission_body_bytes_sum 5000',
    ]);
    assert.deepEqual(await scraped(registry, 'injector_admission_answer_bytes_count'), [
      'injector_admission_answer_bytes_count 1',
    ]);
  });

  for (const [outcome, success, skip, failure] of [
    ['injected', 1, 0, 0],
    ['skipped', 0, 1, 0],
    ['failed', 0, 0, 1],
    ['allowed', 0, 0, 0],
  ] as const) {
    it(`counts ${outcome} under Istio's names`, async () => {
      const registry = new Registry();
      const decision = { ...allowed('Any'), outcome: outcome as AdmissionOutcome, injector: { name: 'a', hash: 'b' } };
      new ServerMetrics(registry).decided('revision', decision, 0.001);
      assert.deepEqual(await scraped(registry, 'sidecar_injection_requests_total'), [
        'sidecar_injection_requests_total 1',
      ]);
      assert.deepEqual(
        [
          ...(await scraped(registry, 'sidecar_injection_success_total')),
          ...(await scraped(registry, 'sidecar_injection_skip_total')),
          ...(await scraped(registry, 'sidecar_injection_failure_total')),
          ...(await scraped(registry, 'sidecar_injection_time_seconds_count')),
        ].map((line) => Number(line.split(' ')[1])),
        [success, skip, failure, success],
      );
    });
  }

  it('leaves what no injector decided out of them', async () => {
    const registry = new Registry();
    new ServerMetrics(registry).decided('validate', denied('Invalid', 422, 'no'), 0.001);
    assert.deepEqual(await scraped(registry, 'sidecar_injection_requests_total'), [
      'sidecar_injection_requests_total 0',
    ]);
    assert.deepEqual(await scraped(registry, 'injector_admission_decisions_total'), [
      'injector_admission_decisions_total{path="validate",injector="",outcome="denied",reason="Invalid"} 1',
    ]);
  });
});
