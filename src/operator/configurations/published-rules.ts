import { hashedConfigMapName, objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { PassMemory } from '../controller/pass-context.ts';
import { verifiedFiles } from './last-good.ts';
import type { TryConfiguration } from '../ports.ts';
import { publishedHash } from '../webhooks/published-webhook.ts';

export type PublishedRules = ReturnType<typeof publishedRules>;

export interface RulesMemory {
  /** The last rules, so that each configuration is tried once. */
  rules?: { readonly hash: string; readonly rules: DecisionRules };
}

/** Creates a reader of the decision rules in published configurations, which replicas also use. */
export function publishedRules(
  view: ClusterView,
  namespace: string,
  tryOne: TryConfiguration,
  memory: PassMemory<RulesMemory>,
) {
  /** Returns the rules of one configuration; undefined when its ConfigMap is missing or damaged. */
  const withHash = async (name: string, hash: string): Promise<DecisionRules | undefined> => {
    const last = memory.read(name).rules;
    if (last?.hash === hash) return last.rules;
    const configMap = view.configMaps.get(hashedConfigMapName(name, hash), namespace);
    const verified = configMap && verifiedFiles(configMap);
    if (verified === undefined) return undefined;
    const { rules } = await tryOne(verified.files);
    memory.of(name).rules = { hash, rules };
    return rules;
  };
  return {
    withHash,
    /** Returns the published rules of an InjectorConfig, or of a tag that points to it. */
    async get(name: string, tag?: string): Promise<DecisionRules | undefined> {
      const webhook = tag === undefined ? objectNames(name).webhookConfiguration : tagWebhookConfiguration(tag);
      const hash = publishedHash(view.mutatingWebhooks.get(webhook), name);
      return hash === undefined ? undefined : withHash(name, hash);
    },
  };
}
