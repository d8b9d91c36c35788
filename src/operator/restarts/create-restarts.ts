import { isDeepStrictEqual } from 'node:util';
import { tagWebhookConfiguration } from '../../api/names.ts';
import { restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import { type ClusterView, tagOf } from '../cluster-view.ts';
import type { OperatorSettings } from '../settings.ts';
import type { TagTargets } from '../tags/tag-targets.ts';
import type { ClusterUsage } from '../usage/cluster-usage.ts';
import { intervalMs, RestartPass, type RestartPassOptions } from './restart-pass.ts';
import { restartsNotAllowed, type RestartSource, whyNotAllowed } from './restart-source.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { PodUpdates } from '../in-place/pod-updates.ts';
import { staleWorkloads } from './restart-candidates.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { formatRoute } from '../../routing/route.ts';
import { liveRollout } from '../webhooks/published-webhook.ts';
import { publishedConfiguration, type SelectingWebhook } from '../../selection/selecting-webhook.ts';

export interface RestartParts extends Omit<
  RestartPassOptions,
  | 'tags'
  | 'objectOf'
  | 'podsOf'
  | 'judgedBy'
  | 'updatesChoice'
  | 'notAllowed'
  | 'mayRestart'
  | 'updates'
  | 'updatedPods'
> {
  readonly settings: OperatorSettings;
  readonly view: Pick<ClusterView, 'tags' | 'mutatingWebhooks' | 'configMaps' | 'kubelets'>;
  readonly client: Pick<LeaderClient, 'apply' | 'list' | 'listAll' | 'patch' | 'create' | 'delete'>;
  readonly targets: Pick<TagTargets, 'tags'>;
  readonly usage: Pick<ClusterUsage, 'podsOf' | 'selectingWebhook' | 'updatesChoice' | 'updatedPods' | 'written'>;
}

/** Returns the restart pass. If restarts and updates are disabled, the pass only reports this. */
export function createRestarts(parts: RestartParts): RestartSource & Pick<RestartPass, 'pass'> {
  const { settings, view, targets, usage } = parts;
  const { restartWorkloads: mayRestart = false, updatePods = false, followPods = true } = settings;
  const notAllowed: RestartPassOptions['notAllowed'] = (tag) => whyNotAllowed(tag, settings);
  if (!(mayRestart || updatePods) || !followPods) {
    const shown: RestartSource['shown'] = (tag) => {
      const { name } = tag.metadata;
      const stale = staleWorkloads(name, usage.podsOf(name), restartBounds(tag.spec.strategy ?? {}));
      return restartsNotAllowed(tag, notAllowed(tag) ?? '', stale);
    };
    const pass = (): Promise<number> => {
      const changed = targets.tags().filter((tag) => shown(tag)?.stale !== tag.status?.restarts?.stale);
      for (const { metadata } of changed) parts.news(metadata.name);
      return Promise.resolve(intervalMs.idle);
    };
    return { shown, pass };
  }
  const written = (pod: KubernetesObject): void => usage.written(pod);
  const { namespace } = settings.context;
  return new RestartPass({
    ...parts,
    notAllowed,
    mayRestart,
    updatedPods: () => usage.updatedPods(),
    updates: updatePods ? new PodUpdates({ ...parts, namespace, written }) : undefined,
    tags: () => targets.tags().filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    objectOf: (tag) => view.tags.get(tag),
    podsOf: (tag) => usage.podsOf(tag),
    updatesChoice: (namespace) => usage.updatesChoice(namespace),
    judgedBy: (tag) => {
      const name = tagWebhookConfiguration(tag);
      return judgedPath(tag, view.mutatingWebhooks.get(name), usage.selectingWebhook(name));
    },
  });
}

/**
 * Returns the live path of a tag's webhook if pods are judged by this path, and null if the tag has
 * no webhook. Returns undefined while pods are still judged by an older webhook.
 * @param live the live webhook configuration of the tag
 * @param judging the webhook by which pods are judged
 */
export function judgedPath(
  tag: string,
  live: KubernetesObject | undefined,
  judging: SelectingWebhook | undefined,
): string | null | undefined {
  const published = live !== undefined && tagOf(live) === tag ? publishedConfiguration(live) : undefined;
  const isJudged = judging?.tag === tag && judging.hash !== undefined;
  if (published === undefined) return isJudged ? undefined : null;
  const { injectorConfig, hash, canary } = published;
  const isSame =
    isJudged &&
    judging.injectorConfig === injectorConfig &&
    judging.hash === hash &&
    isDeepStrictEqual(judging.canary, canary);
  if (!isSame) return undefined;
  return formatRoute(liveRollout(live) ?? { tag, stable: { injectorConfig, hash } });
}
