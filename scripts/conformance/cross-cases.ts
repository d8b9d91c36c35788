import { load } from 'js-yaml';
import type { ProxyConfigResource } from '../../src/inject/injection-request.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import type { ConformanceCase } from './conformance-case.ts';
import type { Golden, Setting } from './golden.ts';
import { compareAnswer, requestFor, type WebhookAnswer } from './webhook-cases.ts';

interface Setup extends Setting {
  readonly name: string;
  readonly path: string;
  readonly webhookRevision: string;
  readonly proxyConfigCRs?: string;
}

interface CrossInput {
  readonly id: string;
  readonly pod: JsonObject;
  readonly namespace: string;
}

interface CrossResult extends WebhookAnswer {
  readonly setup: string;
  readonly input: string;
}

/** Every set-up with every pod, through Istio's HTTP handler. */
export function* crossCases(golden: Golden): Generator<ConformanceCase> {
  const setups = new Map((golden.json('_cross/setups.json') as Setup[]).map((setup) => [setup.name, setup]));
  const inputs = new Map((golden.lines('_cross/inputs.jsonl.gz') as CrossInput[]).map((input) => [input.id, input]));
  for (const result of golden.lines('_cross/results.jsonl.gz') as CrossResult[]) {
    const setup = setups.get(result.setup);
    const input = inputs.get(result.input);
    if (setup === undefined || input === undefined)
      throw new Error(`_cross: no set-up or input for ${result.setup}, ${result.input}`);
    const id = `_cross/${result.setup}/${result.input}`;
    yield {
      id,
      group: `cross/${result.setup}`,
      run: () => {
        const resources =
          setup.proxyConfigCRs === undefined ? undefined : (load(setup.proxyConfigCRs) as ProxyConfigResource[]);
        const request = requestFor(setup, input.pod, input.namespace, setup.path, resources);
        return compareAnswer(golden.injector(setup, setup.webhookRevision, 'Webhook'), request, result, setup);
      },
    };
  }
}
