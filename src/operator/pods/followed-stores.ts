import type { ObjectStore } from '../../kube/object-store.ts';
import type { PodRecord } from '../pod-record.ts';

/** The pods and namespaces of the cluster, as the leader follows them. */
export interface FollowedStores {
  readonly pods: ObjectStore<PodRecord>;
  readonly namespaces: ObjectStore;
}
