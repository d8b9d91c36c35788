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

/** The only deliberate difference in these answers. */
export const missingObject = {
  name: 'missing-object',
  reason:
    'For a review without a pod, our message names the missing object; Istio’s is “unexpected end of JSON input”.',
};

/**
 * Returns cases with the answers of Istio's HTTP handler to reviews that reach the engine. The
 * earlier checks of our server (versions, content types, limits) differ deliberately.
 */
export function* httpCases(golden: Golden): Generator<ConformanceCase> {
  const [setting] = golden.json('_cross/setups.json') as Setting[];
  if (setting === undefined) throw new Error('_cross/setups.json is empty');
  for (const row of golden.json('_tables/http.json') as HttpRow[]) {
    const request = requestOf(row.body);
    const expected = responseOf(row.response);
    if (request === undefined || expected === undefined) continue;
    yield {
      id: `_tables/http/${row.name}`,
      group: 'tables/http',
      run: () => {
        const result = inject(golden.injector(setting, '', 'Webhook'), {
          pod: request.object as JsonObject,
          namespace: String(request.namespace),
        });
        const message = result.outcome === 'failed' ? result.message.split('\n')[0] : undefined;
        const mismatch = expectEqual({ allowed: result.outcome !== 'failed', message }, expected);
        const missing = request.object === null && result.outcome === 'failed' && !expected.allowed;
        return mismatch === undefined || !missing ? mismatch : { ...mismatch, differences: [missingObject.name] };
      },
    };
  }
}

/** Returns a review's request; undefined if invalid, or if the recorder omitted the review. */
function requestOf(body: string): JsonObject | undefined {
  let review: unknown;
  try {
    review = parseYaml(body);
  } catch {
    return undefined;
  }
  return isJsonObject(review) && isJsonObject(review.request) ? review.request : undefined;
}

/** Returns the injector's answer; undefined if there is no uid, which only the injector sets. */
function responseOf(text = ''): { allowed: boolean; message: string | undefined } | undefined {
  if (!text.startsWith('{')) return undefined;
  const { response } = JSON.parse(text) as {
    response: { uid: string; allowed: boolean; status?: { message: string } };
  };
  if (response.uid === '') return undefined;
  return { allowed: response.allowed, message: response.status?.message.split('\n')[0] };
}
