import { property, type TypedValue } from '../../typed-value.ts';
import { rawElements } from '../../value-kind.ts';

const annotationPrefix = 'resource.opentelemetry.io/';
const versionLabel = 'app.kubernetes.io/version';

/**
 * The value of OTEL_RESOURCE_ATTRIBUTES by OpenTelemetry's semantic conventions, where a provider of the mesh asks for
 * them: annotations win over what the pod tells.
 */
export function otelResourceAttributes(
  mesh: TypedValue,
  annotations: TypedValue,
  labels: TypedValue,
  namespace: string,
  containerList: TypedValue,
): string {
  if (!asksForConventions(mesh.raw)) return '';
  const containers = rawElements(containerList);
  const attributes: Readonly<Record<string, string | undefined>> = {
    'service.namespace': namespace,
    'service.version': versionOf(labels.raw, containers),
    'service.instance.id': instanceOf(namespace, containers),
  };
  return Object.entries(attributes)
    .map(([name, otherwise]) => [name, text(property(annotations.raw, annotationPrefix + name)) ?? otherwise])
    .filter(([, value]) => value !== undefined && value !== '')
    .map((attribute) => attribute.join('='))
    .join(',');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asksForConventions(mesh: unknown): boolean {
  const providers = property(mesh, 'extensionProviders');
  const enrichment = (one: unknown) => property(property(one, 'opentelemetry'), 'serviceAttributeEnrichment');
  return Array.isArray(providers) && providers.some((one) => enrichment(one) === 'OTEL_SEMANTIC_CONVENTIONS');
}

/** The label's version, else the tag and the digest of the only container's image. */
function versionOf(labels: unknown, containers: readonly unknown[]): string | undefined {
  const label = text(property(labels, versionLabel));
  if (label !== undefined || containers.length !== 1) return label;
  const [name = '', ...digest] = (text(property(containers[0], 'image')) ?? '').split('@');
  const colon = name.lastIndexOf(':');
  const tag = colon > name.lastIndexOf('/') ? name.slice(colon + 1) : '';
  return [tag, digest.join('@')].filter((part) => part !== '').join('@');
}

/** A pod without a known workload has no namespace here; Istio leaves that part empty. */
function instanceOf(namespace: string, containers: readonly unknown[]): string | undefined {
  if (containers.length === 0) return undefined;
  return `${namespace}.$(POD_NAME).${text(property(containers[0], 'name')) ?? ''}`;
}
