import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import type { OperatorSettings } from '../settings.ts';
import type { TagTargets } from '../tags/tag-targets.ts';
import type { OwnedObjects } from './owned-objects.ts';
import type { RevisionEvents } from './revision-events.ts';

export interface PassContext {
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly owned: OwnedObjects;
  /** The InjectorConfigs to which tags point. */
  readonly targets: TagTargets;
  readonly reports: ReplicaReports;
  readonly events: RevisionEvents;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The input of one pass over an InjectorConfig. */
export interface RevisionPass {
  readonly config: InjectorConfig;
  /** The unparsed InjectorConfig. */
  readonly object: KubernetesObject;
  readonly signal: AbortSignal;
}
