import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type IstiodSettings, nativeSidecarsOf, platformOf } from '../../manifests/istiod-settings.ts';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly unknown[];
}

/** The variables of istiod on which injection depends. */
const variables = ['PLATFORM', 'COMPLIANCE_POLICY', 'ENABLE_NATIVE_SIDECARS', 'SHARED_MESH_CONFIG'] as const;

/** What a Deployment of istiod says about injection. */
export interface IstiodEnvironment {
  readonly settings: Required<Omit<IstiodSettings, 'enableNamespacesByDefault'>>;
  /** The variables that are set, for a table. */
  readonly given: ReadonlyMap<string, string>;
  /** The version as `1.26`; undefined if neither the image nor a label tells it. */
  readonly version: string | undefined;
  /** What prevents a plan, each with what to do. */
  readonly problems: readonly string[];
}

/** Finds the Deployment of istiod for a revision, by the labels of Istio's chart. */
export function istiodOf(deployments: readonly KubernetesObject[], revision: string): KubernetesObject | undefined {
  return deployments.find(({ metadata: { labels = {} } }) => {
    return labels['app'] === 'istiod' && (labels[istioKeys.revision] ?? 'default') === revision;
  });
}

/** Reads what istiod takes from its environment. */
export function environmentOf(deployment: KubernetesObject): IstiodEnvironment {
  const { name = '', namespace = '', labels = {} } = deployment.metadata;
  const { spec, status } = deployment as {
    spec?: { template?: { spec?: { containers?: Container[] } } };
    status?: { availableReplicas?: number };
  };
  const containers = spec?.template?.spec?.containers ?? [];
  const container = containers.find((each) => each.name === 'discovery') ?? containers[0];
  const label = `Deployment ${namespace}/${name}`;
  const problems: string[] = [];
  if ((status?.availableReplicas ?? 0) === 0)
    problems.push(`${label} has no available replica; repair Istio before you move away from it`);
  if ((container?.envFrom ?? []).length > 0)
    problems.push(`${label} takes variables from envFrom, whose names are unknown; write them to env`);
  const given = new Map<string, string>();
  for (const variable of container?.env ?? []) {
    if (!variables.some((each) => each === variable.name)) continue;
    if (variable.valueFrom !== undefined)
      problems.push(`${label} takes variable ${variable.name} from valueFrom; write the value to env`);
    // As in Kubernetes, the last value counts.
    given.set(variable.name, variable.value ?? '');
  }
  const shared = given.get('SHARED_MESH_CONFIG') ?? '';
  if (shared !== '')
    problems.push(
      `${label} merges ConfigMap ${shared} into the mesh configuration (SHARED_MESH_CONFIG); move its settings to ConfigMap istio, and remove the variable`,
    );
  const ofChart = labels['app.kubernetes.io/version'] ?? '';
  const version = versionOf(container?.image ?? '') ?? versionOf(ofChart === unreleased ? '' : `:${ofChart}`);
  const native = given.get('ENABLE_NATIVE_SIDECARS');
  return {
    settings: {
      platform: platformOf(given.get('PLATFORM') ?? ''),
      compliancePolicy: given.get('COMPLIANCE_POLICY') ?? '',
      nativeSidecars: native === undefined ? usualMode(version) : nativeSidecarsOf(native),
    },
    given,
    version,
    problems,
  };
}

/** The version of Istio's chart in its sources, which is in no release. */
const unreleased = '1.0.0';

/** Returns the first two numbers of a tag such as `registry/pilot:1.26.3-distroless`. */
function versionOf(image: string): string | undefined {
  return /:v?(\d+\.\d+)(?:\D|$)[^/]*$/.exec(image)?.[1];
}

/** Returns istiod's mode without ENABLE_NATIVE_SIDECARS: automatic since Istio 1.27. */
function usualMode(version: string | undefined): 'Auto' | 'Disabled' {
  const [major = 1, minor = 27] = (version ?? '').split('.').filter(Boolean).map(Number);
  return major > 1 || minor >= 27 ? 'Auto' : 'Disabled';
}
