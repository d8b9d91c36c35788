import { inject } from '../../src/inject/inject.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import { parseYaml } from '../../src/inject/yaml/parse-yaml.ts';
import { expectEqual, type ConformanceCase } from './conformance-case.ts';
import type { Golden, Setting } from './golden.ts';

interface HttpRow {
  readonly name: string;
  readonly body: string;
  readonly status?: number;
  readonly response?: string;
}

/** The one class of answers that differ on purpose here. */
export const missingObject = {
  name: 'missing-object',
  reason: 'A review without a pod is refused with what is missing; Istio says “unexpected end of JSON input”.',
};

/**
 * What Istio's HTTP handler answered to reviews that reach the engine, well-formed or not. How a request gets that far (versions, content
 * types, limits) is the server's, and differs on purpose.
 */
export function* httpCases(golden: Golden): Generator<ConformanceCase> {
  const [setting] = golden.json('_cross/setups.json') as Setting[];
  if (setting === undefined) throw new Error('_cross/setups.json is empty');
  for (const row of golden.json('_tables/http.json') as HttpRow[]) {
    const request = requestOf(row.body);
    const wanted = responseOf(row.response);
    if (request === undefined || wanted === undefined) continue;
    yield {
      id: `_tables/http/${row.name}`,
      group: 'tables/http',
      run: () => {
        const result = inject(golden.injector(setting, '', 'Webhook'), {
          pod: request.object as JsonObject,
          namespace: String(request.namespace),
        });
        const message = result.outcome === 'failed' ? result.message.split('\n')[0] : undefined;
        const mismatch = expectEqual({ allowed: result.outcome !== 'failed', message }, wanted);
        const missing = request.object === null && result.outcome === 'failed' && !wanted.allowed;
        return mismatch === undefined || !missing ? mismatch : { ...mismatch, differences: [missingObject.name] };
      },
    };
  }
}

/** The request of a review that can be read; the recorder has not kept the largest bodies. */
function requestOf(body: string): JsonObject | undefined {
  let review: unknown;
  try {
    review = parseYaml(body);
  } catch {
    return undefined;
  }
  return isJsonObject(review) && isJsonObject(review.request) ? review.request : undefined;
}

/** Only an answer to the request's own uid comes from the injector. */
function responseOf(text = ''): { allowed: boolean; message: string | undefined } | undefined {
  if (!text.startsWith('{')) return undefined;
  const { response } = JSON.parse(text) as {
    response: { uid: string; allowed: boolean; status?: { message: string } };
  };
  if (response.uid === '') return undefined;
  return { allowed: response.allowed, message: response.status?.message.split('\n')[0] };
}
