import { hashedConfigMapName, objectNames, tagWebhookConfiguration } from '../../api/names.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import type { ClusterView } from '../cluster-view.ts';
import { verifiedFiles } from './last-good.ts';
import type { LoadConfiguration } from '../ports.ts';
import { publishedHash } from '../webhooks/published-webhook.ts';

/** By which rules the replicas decide: those of the configuration that a webhook points at. */
export class PublishedRules {
  readonly #view: ClusterView;
  readonly #namespace: string;
  readonly #load: LoadConfiguration;
  /** By InjectorConfig: a configuration is loaded once, and only its rules are kept. */
  readonly #known = new Map<string, { readonly hash: string; readonly rules: DecisionRules }>();

  constructor(view: ClusterView, namespace: string, load: LoadConfiguration) {
    this.#view = view;
    this.#namespace = namespace;
    this.#load = load;
  }

  /** The rules in force for an InjectorConfig, or for those who follow a tag that leads to it; undefined while it is not published. */
  async of(name: string, tag?: string): Promise<DecisionRules | undefined> {
    const webhook = tag === undefined ? objectNames(name).webhookConfiguration : tagWebhookConfiguration(tag);
    const hash = publishedHash(this.#view.mutatingWebhooks.get(webhook), name);
    return hash === undefined ? undefined : this.ofHash(name, hash);
  }

  /** The rules of one configuration; undefined when it cannot be found whole. */
  async ofHash(name: string, hash: string): Promise<DecisionRules | undefined> {
    const known = this.#known.get(name);
    if (known?.hash === hash) return known.rules;
    const configMap = this.#view.configMaps.get(hashedConfigMapName(name, hash), this.#namespace);
    const verified = configMap && verifiedFiles(configMap);
    if (verified === undefined) return undefined;
    const { rules } = await this.#load(verified.files);
    this.#known.set(name, { hash, rules });
    return rules;
  }
}
