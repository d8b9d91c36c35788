import { normalisePod } from '../../../src/inject/kubernetes/typed-pod.ts';
import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import { escapeGoJson } from '../../../src/inject/pod/go-json.ts';
import type { EnvironmentVariable, Pod } from '../../../src/inject/pod/pod.ts';
import { encodeProbers, listProbers } from '../../../src/inject/probes/handlers.ts';
import {
  addProbers,
  isRewriteWanted,
  resolveNamedPorts,
  rewriteProbes,
} from '../../../src/inject/probes/take-over-probes.ts';
import { expectEqual } from '../conformance-case.ts';
import type { RowComparison } from '../table-cases.ts';

/** How the agent takes over probes and hooks. */
export const probeTables: Readonly<Record<string, RowComparison>> = {
  dumpAppProbers: (row) => {
    const { pod, podAfter, out, targetPort } = row as {
      pod: JsonObject;
      podAfter: JsonObject;
      out: string;
      targetPort: number;
    };
    const resolved = resolveNamedPorts(normalisePod(pod) as Pod);
    return (
      expectEqual(encodeProbers(listProbers(resolved, targetPort)), out) ??
      expectEqual(resolved, normalisePod(podAfter))
    );
  },
  mergeOrAppendProbers: (row) => {
    const { env, out, previouslyInjected, probers } = row as {
      env: EnvironmentVariable[];
      out: EnvironmentVariable[];
      previouslyInjected: boolean;
      probers: string;
    };
    const entries = Object.entries(JSON.parse(probers) as JsonObject);
    const list = new Map(entries.map(([path, prober]) => [path, escapeGoJson(JSON.stringify(prober))]));
    return expectEqual(addProbers(previouslyInjected, env, list), out);
  },
  patchRewriteProbe: (row) => {
    const { pod, defaultPort, out } = row as { pod: JsonObject; defaultPort: number; out: JsonObject };
    return expectEqual(rewriteProbes(normalisePod(pod) as Pod, defaultPort), normalisePod(out));
  },
  shouldRewriteAppHTTPProbers: (row) => {
    const { annotations, specSetting, out } = row as {
      annotations: Record<string, string> | null;
      specSetting: boolean;
      out: boolean;
    };
    return expectEqual(isRewriteWanted(normalisePod({ metadata: { annotations } }) as Pod, specSetting), out);
  },
};
