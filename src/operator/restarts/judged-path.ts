import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { tagInjectPath, tagRolloutPath } from '../../api/names.ts';
import { tagOf } from '../cluster-view.ts';
import { rolloutInForce } from '../published-webhook.ts';
import type { Claimant } from '../usage/claimant.ts';
import { publishedConfiguration } from '../usage/published-configuration.ts';

/**
 * The path of a tag's webhook by which pods are judged; null where it has none. Undefined while they are not judged by the one that is in force:
 * judgements follow a webhook in a moment.
 * @param live the webhook configuration of the tag's name, as it is in force
 * @param judging who takes pods by it, as they are judged now
 */
export function judgedPath(
  tag: string,
  live: KubernetesObject | undefined,
  judging: Claimant | undefined,
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
  const rollout = rolloutInForce(live);
  return rollout === undefined ? tagInjectPath(tag, injectorConfig, hash) : tagRolloutPath(rollout);
}
