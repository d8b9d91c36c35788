import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';

/** The labels of a namespace and a pod. Each label is absent, or has one of three values. */
interface Row {
  readonly injection: string | undefined;
  readonly namespaceRevision: string | undefined;
  readonly inject: string | undefined;
  readonly podRevision: string | undefined;
}

/** The label keys of one family. */
export interface RowKeys {
  readonly injection: string;
  readonly revision: string;
  readonly inject: string;
}

export interface Meaning {
  /** The InjectorConfig for each value of the revision label; a value is a revision or a tag. */
  readonly revisions: Readonly<Record<string, string>>;
  readonly standard: string;
  readonly enabledByDefault: boolean;
}

const injections = [undefined, 'enabled', 'disabled', 'maybe'];
const namespaceRevisions = [undefined, '1-24', 'prod', 'missing'];
const injects = [undefined, 'true', 'false', 'maybe'];
const podRevisions = [undefined, 'default', '1-24', 'prod'];

const namespaceRows = injections.flatMap((injection) =>
  namespaceRevisions.map((namespaceRevision) => ({ injection, namespaceRevision })),
);

const podRows = injects.flatMap((inject) => podRevisions.map((podRevision) => ({ inject, podRevision })));

/** Returns the labels that have a value. */
function labelsOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isThere = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;
  return Object.fromEntries(Object.entries(values).filter(isThere));
}

/**
 * Returns the InjectorConfig that injects the pod; undefined if none does. Restates the table in
 * Istio's documentation and Istio's selectors, without code of the operator.
 */
export function expected({ injection, namespaceRevision, inject, podRevision }: Row, meaning: Meaning) {
  const optedOut = inject === 'false';
  // The namespace's injection label has priority; any value but `enabled` disables injection.
  if (injection !== undefined) return injection === 'enabled' && !optedOut ? meaning.standard : undefined;
  // Otherwise, the namespace's revision label overrides the pod's revision label.
  if (namespaceRevision !== undefined) return optedOut ? undefined : meaning.revisions[namespaceRevision];
  // Without namespace labels, the pod may name a revision, or opt in to the default revision.
  if (optedOut) return undefined;
  if (podRevision !== undefined) return meaning.revisions[podRevision];
  if (inject === 'true') return meaning.standard;
  return inject === undefined && meaning.enabledByDefault ? meaning.standard : undefined;
}

/** Formats a row, for example as `namespace injection=enabled, pod inject=true`. */
export function describeRow({ injection, namespaceRevision, inject, podRevision }: Row): string {
  const words = (values: Record<string, string | undefined>): string =>
    Object.entries(labelsOf(values))
      .map((pair) => pair.join('='))
      .join(' ') || 'nothing';
  return `namespace ${words({ injection, rev: namespaceRevision })}, pod ${words({ inject, rev: podRevision })}`;
}

export interface TablePod {
  readonly row: Row;
  readonly pod: KubernetesObject & Pod;
}

/** Creates the 16 namespaces of a family, in the order of {@link namespaceRows}. */
export async function tableNamespaces(context: ScenarioContext, prefix: string, keys: RowKeys): Promise<string[]> {
  return Promise.all(
    namespaceRows.map(({ injection, namespaceRevision }, index) =>
      context.namespace(
        `${prefix}-${index}`,
        labelsOf({ [keys.injection]: injection, [keys.revision]: namespaceRevision }),
      ),
    ),
  );
}

/** Returns the 256 pods, which are never scheduled. */
export function tablePods(namespaces: readonly string[], name: string, keys: RowKeys): TablePod[] {
  return namespaceRows.flatMap((namespaceRow, index) =>
    podRows.map((podRow, each) => {
      const labels = labelsOf({ [keys.inject]: podRow.inject, [keys.revision]: podRow.podRevision });
      const options = { labels, spec: { schedulerName: 'none' } };
      const pod = barePod(namespaces[index] ?? '', `${name}-${each}`, options);
      return { row: { ...namespaceRow, ...podRow }, pod };
    }),
  );
}

/** Calls a function for each item, in batches. Waits for a whole batch, even if an item fails. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += size) {
    const batch = items.slice(start, start + size).map(work);
    await Promise.allSettled(batch);
    results.push(...(await Promise.all(batch)));
  }
  return results;
}
