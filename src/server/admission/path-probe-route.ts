import { tagProbeSubject, pathProbeKeys, pathProbeName } from '../../api/names.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import { parseRoute } from '../../routing/route.ts';
import { type AdmissionDecision, allowed, type AdmissionRequest } from './admission-decision.ts';
import type { AdmissionRoute } from './admission-handler.ts';

/**
 * Returns a route that also answers reachability checks of its path (see `pathProbeKeys`). The
 * server treats a check in the same way as a pod, up to the decision.
 * @param replica the name of this replica in the answer
 */
export function withPathProbe(route: AdmissionRoute, replica: string): AdmissionRoute {
  return {
    kind: route.kind,
    resolve(path) {
      const target = route.resolve(path);
      if (target === undefined || !('handler' in target)) return target;
      return { ...target, handler: (request) => answerProbe(request, path, replica) ?? target.handler(request) };
    },
  };
}

function answerProbe(request: AdmissionRequest, path: string, replica: string): AdmissionDecision | undefined {
  if (request.resource !== 'configmaps' || !request.dryRun || request.operation !== 'CREATE') return undefined;
  // In a rollout, answer for the stable injector, whose certificate the tag's webhook uses.
  const parsed = parseRoute(path);
  if (parsed === undefined || parsed.suffix !== '') return undefined;
  const { tag, stable } = parsed.route;
  const { injectorConfig: name, hash } = stable;
  if (request.name !== pathProbeName(tag === undefined ? name : tagProbeSubject(tag))) return undefined;
  const nonce = nonceOf(request.object);
  if (nonce === undefined) return undefined;
  const { answer, replica: by, configuration } = pathProbeKeys;
  const data = { [answer]: nonce, [by]: replica, [configuration]: hash };
  const patch = Object.entries(data).map(([key, value]) => ({ op: 'add' as const, path: `/data/${key}`, value }));
  return { ...allowed('PathProbe'), patch, injector: { name, hash } };
}

function nonceOf(object: unknown): string | undefined {
  if (!isJsonObject(object) || !isJsonObject(object['data'])) return undefined;
  const nonce = object['data'][pathProbeKeys.nonce];
  return typeof nonce === 'string' ? nonce : undefined;
}
