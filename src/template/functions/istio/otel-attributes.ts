import { property } from '../../typed-value.ts';

const annotationPrefix = 'resource.opentelemetry.io/';
const versionLabel = 'app.kubernetes.io/version';

/** What the attributes are made of, as plain JSON. */
export interface WorkloadResource {
  readonly mesh: unknown;
  readonly annotations: unknown;
  readonly labels: unknown;
  readonly namespace: string;
  readonly containers: readonly unknown[];
}

/**
 * The value of OTEL_RESOURCE_ATTRIBUTES by OpenTelemetry's semantic conventions, where a provider of the mesh asks for them: annotations
 * win over what the pod tells.
 */
export function otelResourceAttributes(resource: WorkloadResource): string {
  if (!asksForConventions(resource.mesh)) return '';
  const attributes: readonly (readonly [string, string | undefined])[] = [
    ['service.namespace', resource.namespace],
    ['service.version', versionOf(resource)],
    ['service.instance.id', instanceOf(resource)],
  ];
  return attributes
    .map(
      ([name, otherwise]) =>
        [name, text(property(resource.annotations, annotationPrefix + name)) ?? otherwise ?? ''] as const,
    )
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asksForConventions(mesh: unknown): boolean {
  const providers = property(mesh, 'extensionProviders');
  return (
    Array.isArray(providers) &&
    providers.some(
      (provider) =>
        property(property(provider, 'opentelemetry'), 'serviceAttributeEnrichment') === 'OTEL_SEMANTIC_CONVENTIONS',
    )
  );
}

/** The label's version, else that of the only container's image: what follows its name. */
function versionOf({ labels, containers }: WorkloadResource): string | undefined {
  const label = text(property(labels, versionLabel));
  if (label !== undefined || containers.length !== 1) return label;
  const image = text(property(containers[0], 'image')) ?? '';
  return /^(?:.*\/)?[^/:@]*[:@]([^/]+)$/.exec(image)?.[1];
}

/** A pod without a known workload has no namespace here; Istio leaves that part empty. */
function instanceOf({ namespace, containers }: WorkloadResource): string | undefined {
  const container = text(property(containers[0], 'name'));
  return container === undefined ? undefined : `${namespace}.$(POD_NAME).${container}`;
}
