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

/** What passes over InjectorConfigs, RevisionTags and the validating webhook work with. */
export interface PassContext {
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly owned: OwnedObjects;
  /** Where tags lead. */
  readonly targets: TagTargets;
  readonly reports: ReplicaReports;
  readonly events: RevisionEvents;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One pass over an InjectorConfig: what was read, and what it has found out and written so far. */
export interface RevisionPass {
  readonly config: InjectorConfig;
  /** The same as the API server has it. */
  readonly object: KubernetesObject;
  readonly findings: RevisionFindings;
  readonly writes: WriteOutcome;
  readonly signal: AbortSignal;
}
