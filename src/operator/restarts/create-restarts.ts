import { tagWebhookConfiguration } from '../../api/names.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { LeaderClient } from '../leading-client.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import { resyncMs, type OperatorSettings } from '../settings.ts';
import type { TagTargets } from '../tags/tag-targets.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import type { FollowCollection } from './followed-workloads.ts';
import { judgedPath } from './judged-path.ts';
import { RestartEvents } from './restart-events.ts';
import { RestartPass } from './restart-pass.ts';
import { RestartsNotAllowed, type RestartSource } from './restart-source.ts';

export interface RestartParts {
  readonly settings: OperatorSettings;
  readonly client: LeaderClient;
  readonly view: Pick<ClusterView, 'tags' | 'mutatingWebhooks'>;
  readonly targets: Pick<TagTargets, 'tags'>;
  readonly usage: Pick<ClusterUsage, 'podsOf' | 'claimant'>;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly follow: FollowCollection;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wake: () => void;
  readonly news: (tag: string) => void;
}

/** Restarts of workloads where the operator may, and else what says that it may not. */
export function createRestarts(parts: RestartParts): RestartSource & Pick<RestartPass, 'pass'> {
  const { settings, view, targets, usage, recorder } = parts;
  const isFollowing = settings.followPods !== false;
  if (settings.restartWorkloads !== true || !isFollowing) {
    const source = new RestartsNotAllowed(isFollowing ? 'flag' : 'pods');
    return { shown: (tag) => source.shown(tag), pass: () => Promise.resolve(resyncMs) };
  }
  return new RestartPass({
    ...parts,
    tags: () => targets.tags().filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    objectOf: (tag) => view.tags.get(tag),
    podsOf: (tag) => usage.podsOf(tag),
    judgedBy: (tag) => {
      const name = tagWebhookConfiguration(tag);
      return judgedPath(tag, view.mutatingWebhooks.get(name), usage.claimant(name));
    },
    events: new RestartEvents(recorder),
  });
}
