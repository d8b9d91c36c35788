import { Registry } from 'prom-client';
import type { AdmissionRoute } from '../admission/admission-handler.ts';
import { createAdmissionPipeline, type RequestHead } from '../admission/admission-pipeline.ts';
import { DecisionMemory } from '../admission/decision-memory.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import { createAdmissionObserver } from '../metrics/admission-observer.ts';
import { ServerMetrics } from '../metrics/server-metrics.ts';
import { RecordingLog } from './recording-log.ts';
import { injectPath } from './reviews.ts';

/** Creates a pipeline without a socket, with a log and metrics. */
export function pipelineOf(routes: readonly AdmissionRoute[], { maxValues = 5000, maxBytes = 1_000_000, log = new RecordingLog() } = {}) {
  const registry = new Registry();
  const admit = createAdmissionPipeline({
    routes,
    jsonBounds: { maxDepth: 100, maxValues },
    memory: new DecisionMemory({ maxBytes, maxReviewBytes: 100_000 }),
    observer: createAdmissionObserver(log, new ServerMetrics(registry), () => 0),
  });
  const head = { method: 'POST', url: injectPath, contentType: 'application/json', contentLength: undefined };
  async function answer(body: Buffer, changes: Partial<RequestHead> = {}): Promise<HttpAnswer> {
    const admitted = admit({ ...head, ...changes });
    return 'answer' in admitted ? admitted.answer : (admitted.inspect(body) ?? admitted.respond(body));
  }
  return { admit, answer, head, log, registry };
}
