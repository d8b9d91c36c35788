import { applyUntilReady, deleteForced } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import { applyTagUntilReady, removeTag, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { createAll, nameOf, workload } from '../../harness/workload-kinds.ts';
import { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

const tag = 'walked-restarts';

/** A workload of each kind is stale and restarted. */
export async function restartEachKind(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const [old, next] = [markedConfig('walked-old', 'old'), markedConfig('walked-next', 'next')];
  await applyUntilReady(client, old);
  await applyUntilReady(client, next);
  await applyTagUntilReady(client, revisionTag(tag, 'walked-old'));
  const namespace = await context.namespace('restarted', { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
  const objects = kinds.map((kind) => workload(kind, namespace, kind.toLowerCase()));
  await createAll(context, objects);
  const areWholeBy = (maker: string) => () => objects.every((each) => observer.isWholeBy(nameOf(each), maker));
  await waitFor('a workload of each kind to be ready', areWholeBy('walked-old'));
  const restart = { maxUnavailableWorkloads: 3, perNamespace: 3, minReadySeconds: 0 };
  await applyTagUntilReady(client, revisionTag(tag, 'walked-next', { strategy: { restart } }));
  await waitFor('each of them to be restarted', areWholeBy('walked-next'));
  await removeTag(client, tag);
  await deleteForced(client, old);
  await deleteForced(client, next);
}
