import { ConfigurationError } from '../../../src/api/errors.ts';
import { isMergeEnabled } from '../../../src/inject/finish/prometheus-merge.ts';
import type { ProxyConfigResource } from '../../../src/inject/injection-request.ts';
import { applyToMessage, type Message } from '../../../src/inject/mesh/decode-message.ts';
import { effectiveProxyConfig, proxyConfigLayers } from '../../../src/inject/mesh/effective-proxy-config.ts';
import { loadMeshConfig } from '../../../src/inject/mesh/mesh-config.ts';
import { annotationProxyConfig, applyProxyConfig } from '../../../src/inject/mesh/proxy-config.ts';
import { messageType } from '../../../src/inject/mesh/message-type.ts';
import type { JsonObject } from '../../../src/inject/patch/json-value.ts';
import type { Pod } from '../../../src/inject/pod/pod.ts';
import { annotationProblems } from '../../../src/inject/annotations/validate-annotations.ts';
import { parseYaml } from '../../../src/inject/yaml/parse-yaml.ts';
import { expectEqual, type Mismatch, type RowComparison } from '../conformance-case.ts';

interface EffectiveRow {
  readonly annotation: string;
  readonly annotationValid: boolean;
  readonly effective: JsonObject;
  readonly kubeInjectEffective?: JsonObject;
  readonly kubeInjectError?: string;
  readonly labels: Record<string, string>;
  readonly meshDefaultConfig: string;
  readonly namespace: string;
  readonly proxyConfigCRs: string;
}

/** Tables about the effective configuration of mesh and proxy. */
export const meshTables: Readonly<Record<string, RowComparison>> = {
  applyMeshConfig: (row) => {
    const { yaml, mesh, error } = row as { yaml: string; mesh?: unknown; error?: string };
    try {
      return expectEqual(JSON.stringify(loadMeshConfig(yaml)), JSON.stringify(mesh));
    } catch (thrown) {
      if (thrown instanceof ConfigurationError && error !== undefined) return undefined;
      throw thrown;
    }
  },
  effectiveProxyConfig: (row) => compareEffective(row as EffectiveRow),
  enablePrometheusMerge: (row) => {
    const { annotations, mesh, out } = row as {
      annotations: Record<string, string> | null;
      mesh: JsonObject | null;
      out: boolean;
    };
    const pod: Pod = { metadata: annotations === null ? {} : { annotations }, spec: { containers: [] } };
    return expectEqual(isMergeEnabled(pod, mesh?.enablePrometheusMerge), out);
  },
};

function compareEffective(row: EffectiveRow): Mismatch | undefined {
  const mesh = loadMeshConfig(JSON.stringify({ defaultConfig: parseYaml(row.meshDefaultConfig) }));
  const listed = (parseYaml(row.proxyConfigCRs) ?? []) as { ns: string; spec: JsonObject }[];
  const resources = listed.map(({ ns, spec }, index): ProxyConfigResource => ({
    metadata: { name: `resource-${index}`, namespace: ns },
    spec,
  }));
  const annotation = row.annotation === '' ? undefined : annotationProxyConfig(row.annotation);
  const effective = effectiveProxyConfig(proxyConfigLayers(mesh), row, annotation, resources);
  return (
    expectEqual(JSON.stringify(effective), JSON.stringify(canonical(row.effective))) ??
    expectEqual(annotationProblems({ 'proxy.istio.io/config': row.annotation }) === undefined, row.annotationValid) ??
    compareCommandLine(mesh, row)
  );
}

function compareCommandLine(mesh: Message, row: EffectiveRow): Mismatch | undefined {
  try {
    const applied = applyProxyConfig(mesh.defaultConfig as Message, parseYaml(row.annotation));
    return expectEqual(JSON.stringify(applied), JSON.stringify(canonical(row.kubeInjectEffective)));
  } catch (error) {
    const message = `could not parse proxy config: ${error instanceof Error ? error.message : String(error)}`;
    // Messages about invalid YAML differ by parser.
    return expectEqual(message.replace(/yaml: [^]*$/, 'yaml'), row.kubeInjectError?.replace(/yaml: .*$/, 'yaml'));
  }
}

/** Returns the message with fields in canonical order, because the comparison includes order. */
function canonical(json: unknown): unknown {
  return applyToMessage(messageType('istio.mesh.v1alpha1.ProxyConfig'), {}, json);
}
