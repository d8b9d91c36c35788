import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { type AdmissionOutcome, allowed, denied } from '../admission/admission-decision.ts';
import { ServerMetrics } from './server-metrics.ts';

describe('ServerMetrics', () => {
  let registry: Registry;
  let metrics: ServerMetrics;
  beforeEach(() => {
    registry = new Registry();
    metrics = new ServerMetrics(registry);
  });
  /** Returns the lines of a scrape with this prefix, without the prefix. */
  async function scraped(name: string): Promise<string[]> {
    const lines = (await registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length));
  }

  it('reads gauges at each scrape, and reports 0 before the server exists', async () => {
    assert.deepEqual(await scraped('injector_admission_in_flight'), [' 0']);
    let certificates: [string, Date][] = [['a.svc', new Date(1000)]];
    metrics.readFrom(
      () => ({ inFlight: 1, bufferedBytes: 2, rememberedBytes: 5, connections: 4, unprovenConnections: 3 }),
      () => certificates,
    );
    assert.deepEqual(await scraped('injector_connections'), [' 4', '_unproven 3']);
    assert.deepEqual(await scraped('injector_admission_buffered_bytes'), [' 2']);
    const expiry = 'injector_serving_certificate_not_after_seconds';
    assert.deepEqual(await scraped(expiry), ['{server_name="a.svc"} 1']);
    certificates = [];
    assert.deepEqual(await scraped(expiry), []);
  });

  it('counts requests by kind and code, and sizes of received bodies', async () => {
    metrics.answered('revision', 200, 0.002, 5000, 9000);
    metrics.answered('revision', 503, 0.0001, 0, 0);
    metrics.answered('unknown', 404, 0.0001, 0, 0);
    assert.deepEqual(await scraped('injector_admission_requests_total'), [
      '{path="revision",code="200"} 1',
      '{path="revision",code="503"} 1',
      '{path="unknown",code="404"} 1',
    ]);
    assert.deepEqual(await scraped('injector_admission_body_bytes_sum'), [' 5000']);
    assert.deepEqual(await scraped('injector_admission_answer_bytes_count'), [' 1']);
  });

  for (const [outcome, success, skip, failure] of [
    ['injected', 1, 0, 0],
    ['skipped', 0, 1, 0],
    ['failed', 0, 0, 1],
    ['allowed', 0, 0, 0],
  ] as const) {
    it(`counts the outcome ${outcome} under Istio's names`, async () => {
      const decision = { ...allowed('Any'), outcome: outcome as AdmissionOutcome, injector: { name: 'a', hash: 'b' } };
      metrics.decided('revision', decision, 0.001);
      const counts = [];
      for (const name of ['requests_total', 'success_total', 'skip_total', 'failure_total', 'time_seconds_count'])
        counts.push(...(await scraped(`sidecar_injection_${name}`)).map(Number));
      assert.deepEqual(counts, [1, success, skip, failure, success]);
    });
  }

  it("does not count decisions without an injector under Istio's names", async () => {
    metrics.decided('validate', denied('Invalid', 422, 'no'), 0.001);
    assert.deepEqual(await scraped('sidecar_injection_requests_total'), [' 0']);
    assert.deepEqual(await scraped('injector_admission_decisions_total'), [
      '{path="validate",injector="",outcome="denied",reason="Invalid"} 1',
    ]);
  });
});
