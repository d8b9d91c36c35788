import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { configMaps } from '../../operator/cluster-view.ts';
import { type DiffReport, isChanged, isFailing } from '../diff/diff-report.ts';
import { exitCodes, UsageError } from '../terminal.ts';

/** What a proof holds for, besides the workloads in its report. */
export interface ProofFacts {
  /** When the comparison began (RFC 3339). */
  readonly time: string;
  /** The only namespace that was compared; absent if all were. */
  readonly namespace?: string;
  /** The hash of each compared configuration, by the name of its InjectorConfig. */
  readonly configurations: Readonly<Record<string, string>>;
  /** The resourceVersion of each ConfigMap from which istiod injects, by `namespace/name`. */
  readonly configMaps: Readonly<Record<string, string>>;
  /** Workloads whose newest pod differs from a new one, whichever injector answers. */
  readonly stale: number;
  /** Workloads whose new pods our injector already injects. */
  readonly moved: number;
  readonly notCompared: readonly Readonly<Record<'namespace' | 'kind' | 'name' | 'message', string>>[];
}

/** The result of `injector adopt prove`: a report as of `injector diff`, and what it holds for. */
export interface Proof extends DiffReport {
  readonly proof: ProofFacts;
}

/** Returns the exit status of `injector adopt prove`. */
export function exitCodeOf({ summary: { failing, changed, workloads }, proof }: Proof): number {
  if (failing > 0) return exitCodes.refused;
  if (changed > 0) return exitCodes.negative;
  return proof.notCompared.length > 0 || workloads === 0 ? exitCodes.unknown : exitCodes.success;
}

/** Reports why a namespace is not proven; undefined if new pods are equal in all its workloads. */
export function unprovenIn({ workloads, proof }: Proof, namespace: string): string | undefined {
  if (proof.namespace !== undefined && proof.namespace !== namespace)
    return `the proof covers only namespace ${proof.namespace}`;
  const other = workloads.find((each) => each.namespace === namespace && (isFailing(each) || isChanged(each)));
  if (other !== undefined) return `new pods of ${other.kind.toLowerCase()}/${other.name} differ`;
  const missing = proof.notCompared.find((each) => each.namespace === namespace);
  return missing && `${missing.kind.toLowerCase()}/${missing.name} was not compared: ${missing.message}`;
}

/**
 * Reads the resourceVersions of the ConfigMaps from which istiod injects, by `namespace/name`.
 * @throws UsageError if the namespace has none
 */
export async function readIstioConfigMaps(
  client: Pick<ApiClient, 'listAll'>,
  namespace: string,
): Promise<Record<string, string>> {
  const { items } = await client.listAll(configMaps, { namespace });
  const isOfInjector = ({ data }: KubernetesObject): boolean => {
    const { config, values, mesh } = (data ?? {}) as Readonly<Record<string, string>>;
    return mesh !== undefined || (config !== undefined && values !== undefined);
  };
  const found = items.filter(({ metadata }) => metadata.name?.startsWith('istio') === true).filter(isOfInjector);
  if (found.length === 0)
    throw new UsageError(
      `namespace ${namespace} has no ConfigMap of Istio's injector; name the namespace of istiod with -i`,
    );
  return Object.fromEntries(
    found.map(({ metadata: { name = '', resourceVersion = '' } }) => [`${namespace}/${name}`, resourceVersion]),
  );
}
