import { compareWithOurs } from '../../explain/other-injector.ts';
import type { OtherInjectorFinding } from '../../explain/stored-pod.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { namespaces as namespaceKind, pods } from '../../operator/cluster-view.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { readCreationFacts } from '../diff/cluster-diff.ts';
import { contextIn } from '../diff/compare.ts';
import { forEachItem } from './installation.ts';
import type { ReadUsage } from './read-usage.ts';

/** The pods of a workload that another injector injected, compared with new pods of ours. */
export interface OtherInjectorUsage {
  readonly namespace: string;
  /** `Deployment/web`. */
  readonly workload: string;
  /** The InjectorConfig whose webhook selects the pods. */
  readonly injectorConfig: string;
  /** The revision that the other injector wrote; empty if it wrote none. */
  readonly revision: string;
  readonly identical: number;
  readonly different: number;
  readonly notCompared: number;
  /** Why pods are not identical, without repetitions; at most {@link mostReasons}. */
  readonly reasons: readonly string[];
}

/** The maximum number of reasons for a workload. */
const mostReasons = 3;

const countOf = { Identical: 'identical', Different: 'different', NotCompared: 'notCompared' } as const;

/**
 * Compares every pod that another injector injected. Reads the pods again, page by page, because
 * most clusters have no such pods, and a comparison needs more objects than a count.
 * @param notes receives which objects could not be listed
 */
export async function compareOthers(
  client: Pick<ApiClient, 'list' | 'listAll'>,
  usage: Pick<ReadUsage, 'judge' | 'injectorOf' | 'others'>,
  namespace: string | undefined,
  notes: string[],
): Promise<OtherInjectorUsage[]> {
  if (usage.others === 0) return [];
  const { items } = await client.listAll(namespaceKind);
  const named = new Map(items.map((each) => [each.metadata.name ?? '', each]));
  const facts = { namespaces: named, ...(await readCreationFacts(client, namespace, notes)) };
  const found = new Map<string, OtherInjectorUsage>();
  // A page of pods is 1 to 2 MB of JSON.
  await forEachItem(client, pods, { namespace, limit: 100 }, (pod) => {
    const { namespace: own = '', annotations = {} } = pod.metadata;
    for (const { reason, selectedBy } of usage.judge(pod)) {
      if (reason !== 'OtherInjector' || selectedBy === undefined) continue;
      const status = annotations[selectedBy.keys.status] ?? '';
      const finding = compareWithOurs(pod, status, usage.injectorOf(selectedBy), contextIn(own, facts));
      const { kind, name } = workloadOfPod(pod, own);
      const { injectorConfig } = selectedBy;
      add(found, { namespace: own, workload: `${kind}/${name}`, injectorConfig }, finding);
    }
  });
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

function add(
  found: Map<string, OtherInjectorUsage>,
  workload: Pick<OtherInjectorUsage, 'namespace' | 'workload' | 'injectorConfig'>,
  { revision, result, why }: OtherInjectorFinding,
): void {
  const key = [...Object.values(workload), revision].join(' ');
  const none = { identical: 0, different: 0, notCompared: 0, reasons: [] };
  const known = found.get(key) ?? { ...workload, revision, ...none };
  const reasons = why === '' || known.reasons.includes(why) ? known.reasons : [...known.reasons, why];
  const count = countOf[result];
  found.set(key, { ...known, [count]: known[count] + 1, reasons: reasons.slice(0, mostReasons) });
}
