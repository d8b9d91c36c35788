import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Pod } from '../../harness/pod.ts';
import { barePod } from '../../harness/workloads.ts';
import { labelsOf, namespaceRows, podRows, type Row, type RowKeys } from './rows.ts';

/** A row with the pod that makes it. */
export interface TablePod {
  readonly row: Row;
  readonly pod: KubernetesObject & Pod;
}

/** The 16 namespaces of a family, in the order of {@link namespaceRows}. */
export async function tableNamespaces(context: ScenarioContext, prefix: string, keys: RowKeys): Promise<string[]> {
  return Promise.all(
    namespaceRows.map(({ injection, namespaceRevision }, index) =>
      context.namespace(
        `${prefix}-${index}`,
        labelsOf([
          [keys.injection, injection],
          [keys.revision, namespaceRevision],
        ]),
      ),
    ),
  );
}

/** The 256 pods. No scheduler takes them: they are stored, and that is all. */
export function tablePods(namespaces: readonly string[], name: string, keys: RowKeys): TablePod[] {
  return namespaceRows.flatMap((namespaceRow, index) =>
    podRows.map((podRow, each) => {
      const labels = labelsOf([
        [keys.inject, podRow.inject],
        [keys.revision, podRow.podRevision],
      ]);
      const spec = { schedulerName: 'nobody' };
      return {
        row: { ...namespaceRow, ...podRow },
        pod: barePod(namespaces[index] ?? '', `${name}-${each}`, { labels, spec }),
      };
    }),
  );
}

/** Does something for each item, some at a time, in the order of the items. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size) {
    results.push(...(await Promise.all(items.slice(start, start + size).map(work))));
  }
  return results;
}
