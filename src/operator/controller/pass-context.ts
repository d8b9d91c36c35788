import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import type { OperatorSettings } from '../settings.ts';
import type { TagTargets } from '../tags/tag-targets.ts';
import type { OwnedObjects, WriteOutcome } from './owned-objects.ts';
import type { RevisionEvents } from './revision-events.ts';
import type { RevisionFindings } from './revision-status.ts';

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

/** One pass over an InjectorConfig: its input, and its findings and writes so far. */
export interface RevisionPass {
  readonly config: InjectorConfig;
  /** The unparsed InjectorConfig. */
  readonly object: KubernetesObject;
  readonly findings: RevisionFindings;
  readonly writes: WriteOutcome;
  readonly signal: AbortSignal;
}
