import { compileTemplate } from '../../../src/template/template.ts';
import { functionsOfFamily } from '../../../src/template/functions/go/function-families.ts';
import { parseValues } from '../../../src/inject/configuration/values.ts';
import { applyToMessage } from '../../../src/inject/mesh/decode-message.ts';
import { messageType } from '../../../src/inject/mesh/message-type.ts';
import { applyProxyConfig, defaultProxyConfig } from '../../../src/inject/mesh/proxy-config.ts';
import { parseYaml } from '../../../src/inject/yaml/parse-yaml.ts';
import { proxyImage } from '../../../src/inject/template-data/proxy-image.ts';
import { templateValue, type TemplateData } from '../../../src/inject/template-data/template-data.ts';
import { expectEqual, type RowComparison } from '../conformance-case.ts';

const emptyData: TemplateData = {
  TypeMeta: { apiVersion: '', kind: '' },
  DeploymentMeta: { name: '', namespace: '' },
  ObjectMeta: {},
  Spec: {},
  ProxyConfig: {},
  MeshConfig: {},
  Values: {},
  Revision: '',
  NativeSidecars: false,
  ProxyImage: '',
  ProxyInitImage: '',
  ProxyUID: 0,
  ProxyGID: 0,
  InboundTrafficPolicyMode: '',
  CompliancePolicy: '',
};

/** Renders a template with Istio's data. The caller sets some parts of the data. */
function render(template: string, data: Partial<TemplateData>): string {
  const compiled = compileTemplate(template, { name: 'inject', functions: functionsOfFamily('istio') });
  return compiled.execute(templateValue({ ...emptyData, ...data }));
}

/** Tables about Istio's template functions, called from templates. */
export const functionTables: Readonly<Record<string, RowComparison>> = {
  appendMultusNetwork: (row) => {
    const { in: existing, network, out } = row as { in: string; network: string; out: string };
    return expectEqual(
      render('{{ appendMultusNetwork .Values.existing .Values.network }}', { Values: { existing, network } }),
      out,
    );
  },
  getPortsForContainer: (row) => {
    const { container, out } = row as { container: unknown; out: string[] };
    return expectEqual(
      render('{{ applicationPorts .Spec.Containers }}', { Spec: { containers: [container] } }),
      out.join(','),
    );
  },
  omitNil: (row) => {
    const { in: value, out } = row as { in: unknown; out: unknown };
    const json = render('{{ $clean := omitNil .Values.in }}{{ if $clean }}{{ structToJSON $clean }}{{ end }}', {
      Values: { in: value },
    });
    return expectEqual(json === '' ? null : JSON.parse(json), out);
  },
  otelResourceAttributes: (row) => {
    const { mesh, annotations, labels, namespace, containers, out } = row as Record<string, unknown> & {
      namespace: string;
    };
    const template =
      '{{ otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels .DeploymentMeta.Namespace .Spec.Containers }}';
    const data = {
      MeshConfig: mesh,
      ObjectMeta: { annotations, labels },
      DeploymentMeta: { name: '', namespace },
      Spec: { containers },
    };
    return expectEqual(render(template, data), out);
  },
  protoToJSON: (row) => {
    const { proxyConfig, out } = row as { proxyConfig: unknown; out: string };
    return expectEqual(
      render('{{ protoToJSON .ProxyConfig }}', { ProxyConfig: canonicalProxyConfig(proxyConfig) }),
      out,
    );
  },
  protoToJSONMatrix: (row) => {
    const { overlay, full, protoToJSON, error } = row as {
      overlay: string;
      full?: unknown;
      protoToJSON?: string;
      error?: string;
    };
    try {
      const applied = applyProxyConfig(defaultProxyConfig, parseYaml(overlay));
      return (
        expectEqual(applied, full) ??
        expectEqual(render('{{ protoToJSON .ProxyConfig }}', { ProxyConfig: applied }), protoToJSON)
      );
    } catch (thrown) {
      return expectEqual(
        `could not parse proxy config: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        error,
      );
    }
  },
  proxyImage: (row) => {
    const { values, proxyConfigImage, annotations, out } = row as {
      values: unknown;
      proxyConfigImage: unknown;
      annotations: Record<string, string> | null;
      out: string;
    };
    const config = { ...defaultProxyConfig, ...(proxyConfigImage !== null && { image: proxyConfigImage }) };
    return expectEqual(proxyImage(parseValues(JSON.stringify(values)), config, annotations ?? {}), out);
  },
};

function canonicalProxyConfig(json: unknown): unknown {
  return applyToMessage(messageType('istio.mesh.v1alpha1.ProxyConfig'), {}, json);
}
