import { hashedConfigMapName, objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import type { ClusterView } from '../cluster-view.ts';
import { verifiedFiles } from './last-good.ts';
import type { LoadConfiguration } from '../ports.ts';
import { publishedHash } from '../webhooks/published-webhook.ts';

export type PublishedRules = ReturnType<typeof publishedRules>;

/** By which rules the replicas decide: those of the configuration that a webhook points at. */
export function publishedRules(view: ClusterView, namespace: string, load: LoadConfiguration) {
  /** By InjectorConfig: a configuration is loaded once, and only its rules are kept. */
  const known = new Map<string, { readonly hash: string; readonly rules: DecisionRules }>();
  /** The rules of one configuration; undefined when it cannot be found whole. */
  const ofHash = async (name: string, hash: string): Promise<DecisionRules | undefined> => {
    const last = known.get(name);
    if (last?.hash === hash) return last.rules;
    const configMap = view.configMaps.get(hashedConfigMapName(name, hash), namespace);
    const verified = configMap && verifiedFiles(configMap);
    if (verified === undefined) return undefined;
    const { rules } = await load(verified.files);
    known.set(name, { hash, rules });
    return rules;
  };
  return {
    ofHash,
    /** The rules in force for an InjectorConfig, or for those who follow a tag that leads to it; undefined while it is not published. */
    async of(name: string, tag?: string): Promise<DecisionRules | undefined> {
      const webhook = tag === undefined ? objectNames(name).webhookConfiguration : tagWebhookConfiguration(tag);
      const hash = publishedHash(view.mutatingWebhooks.get(webhook), name);
      return hash === undefined ? undefined : ofHash(name, hash);
    },
  };
}
