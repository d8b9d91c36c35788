import { inject } from '../../src/inject/inject.ts';
import type { InjectionRequest, ProxyConfigResource } from '../../src/inject/injection-request.ts';
import type { Injector } from '../../src/inject/injector.ts';
import { applyJsonPatch } from '../../src/inject/patch/testdata/apply-json-patch.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { firstDifference, type ConformanceCase, type Mismatch } from './conformance-case.ts';
import { explainResult } from './differences.ts';
import type { Golden, Setting } from './golden.ts';

interface GoldenCase extends Setting {
  readonly name: string;
  readonly webhook?: readonly WebhookRun[] | null;
}

interface WebhookRun {
  readonly allowed: boolean;
  readonly injected: boolean;
  readonly path: string;
  readonly requestNamespace: string;
  readonly revision: string;
}

/** The answer of Istio's webhook to one pod. */
export interface WebhookAnswer {
  readonly allowed: boolean;
  readonly message?: string;
  /** The injected pod; undefined if Istio did not inject it. */
  readonly podOut?: JsonObject;
  /** The pod after a second injection, if it differs from `podOut`. */
  readonly reinjectPodOut?: JsonObject;
  /** Whether only one injection was recorded. */
  readonly once?: true;
}

/** Returns the cases of Istio's tests, recorded with the webhook. */
export function* webhookCases(golden: Golden, names: readonly string[]): Generator<ConformanceCase> {
  for (const name of names) {
    const setting = golden.json(`${name}/case.json`) as GoldenCase;
    for (const [part, run] of (setting.webhook ?? []).entries()) {
      const folder = `${name}/webhook/part-${part}`;
      yield {
        id: folder,
        group: 'webhook',
        run: () => {
          const pod = golden.json(`${folder}/pod-in.json`) as JsonObject;
          const reinjected = `${folder}/reinject-out.json`;
          const answer: WebhookAnswer = {
            allowed: run.allowed,
            ...(run.injected && { podOut: golden.json(`${folder}/pod-out.json`) as JsonObject }),
            ...(golden.exists(reinjected) && { reinjectPodOut: golden.json(reinjected) as JsonObject }),
          };
          const request = requestFor(setting, pod, run.requestNamespace, run.path, undefined);
          return compareAnswer(golden.injector(setting, run.revision, 'Webhook'), request, answer, setting);
        },
      };
    }
  }
}

/** Returns the request of a recorded admission. */
export function requestFor(
  setting: Setting,
  pod: JsonObject,
  namespace: string,
  path: string,
  proxyConfigs: readonly ProxyConfigResource[] | undefined,
): InjectionRequest {
  const own = (pod.metadata as JsonObject).namespace;
  const named = typeof own === 'string' && own !== '' ? own : namespace;
  const metadata = setting.cluster.namespaces?.find(({ name }) => name === named);
  return {
    pod,
    namespace,
    path,
    nodes: setting.cluster.nodes ?? [],
    ...(metadata && { namespaceMetadata: metadata }),
    ...(proxyConfigs && { proxyConfigs }),
  };
}

/** Compares the result of an admission, the patched pod, and the result of a second injection. */
export function compareAnswer(
  injector: Injector,
  request: InjectionRequest,
  answer: WebhookAnswer,
  setting: Setting,
): Mismatch | undefined {
  const context = { setting, pod: request.pod, proxy: injector.family.proxy };
  const before = JSON.stringify(request.pod);
  const result = inject(injector, request);
  if (JSON.stringify(request.pod) !== before) return { summary: 'the request was changed' };
  if (result.outcome === 'failed') {
    if (answer.allowed) return { summary: `failed: ${result.reason}: ${result.message}` };
    const [ours, expected] = [result.message, answer.message ?? ''].map((text) => ({ message: firstLine(text) }));
    return explainResult(ours ?? {}, expected ?? {}, context);
  }
  if (!answer.allowed) return { summary: `${result.outcome}, expected a denial: ${answer.message ?? ''}` };
  if (result.outcome === 'skipped') {
    return answer.podOut === undefined ? undefined : { summary: `skipped: ${result.message}` };
  }
  if (answer.podOut === undefined) return { summary: 'injected, expected no injection' };
  const applied = firstDifference(applyJsonPatch(request.pod, result.patch), result.pod, 'patched');
  if (applied !== undefined) return { summary: applied };
  const first = explainResult(result.pod, answer.podOut, context);
  if (first !== undefined || answer.once) return first;
  const again = inject(injector, { ...request, pod: result.pod });
  if (again.outcome !== 'injected') return { summary: `second injection: ${again.outcome}: ${again.message}` };
  const second = explainResult(again.pod, answer.reinjectPodOut ?? answer.podOut, context);
  return second === undefined ? undefined : { ...second, summary: `second injection: ${second.summary}` };
}

/** Returns the first line of a message, with sorted lists, because Go's order is random. */
function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? '';
  return line.replace(/; have (.*)$/, (_, names: string) => `; have ${names.split(', ').sort().join(', ')}`);
}
