import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import type { FollowedStores, PodEvents } from './pod-events.ts';
import { podRecord } from './pod-record.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';

/** What must be followed while we lead: the two collections, and what is kept of each object. */
export interface PodStores extends FollowedStores {
  readonly keepOfPod: (pod: KubernetesObject) => PodRecord;
  readonly keepOfNamespace: (namespace: KubernetesObject) => KubernetesObject;
}

/** Of the pods that were there before we led, those younger than this may have come while nobody did. Milliseconds. */
const unwatchedMs = 60_000;
/** The API server's times are whole seconds. Milliseconds. */
const secondMs = 1000;

/** Who asks for the pods and namespaces of the cluster. */
interface PodReaders {
  readonly podEvents: Pick<PodEvents, 'begin'>;
  readonly usage: Pick<ClusterUsage, 'begin'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The stores to fill until the signal aborts: one list of pods and namespaces for Events about pods and for who uses what.
 * @param again more is asked of pods than was kept: end this and begin anew
 * @param isAgain whether it is that beginning anew, so that whatever came before has been looked at
 */
export function followPods(
  { podEvents, usage, clock }: PodReaders,
  signal: AbortSignal,
  again: () => void,
  isAgain = false,
): PodStores {
  const stores: FollowedStores = { pods: new ObjectStore<PodRecord>(), namespaces: new ObjectStore() };
  const unwatched = isAgain ? secondMs : unwatchedMs;
  const groupOf = usage.begin(stores, signal, again);
  const note = podEvents.begin(stores, new Date(clock.now().getTime() - unwatched), signal);
  return {
    ...stores,
    keepOfPod: (pod) => {
      const record = podRecord(pod, groupOf(pod));
      note(pod, record);
      return record;
    },
    keepOfNamespace: ({ apiVersion, kind, metadata }) => {
      const { name = '', uid = '', labels = {}, resourceVersion = '', deletionTimestamp } = metadata;
      const leaving = deletionTimestamp === undefined ? {} : { deletionTimestamp };
      return { apiVersion, kind, metadata: { name, uid, labels, resourceVersion, ...leaving } };
    },
  };
}
