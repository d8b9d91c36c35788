import { istioKeys } from '../../../api/injector-config/webhook-keys.ts';
import type { DecisionRules } from '../../../inject/decide.ts';
import { selectorsOf } from '../../../selection/webhook-selectors.ts';
import { compileSelectors, type SelectingWebhook } from '../../../selection/selecting-webhook.ts';
import { PodGroups, type PodRecord } from '../pod-group.ts';
import type { PodTraits } from '../pod-traits.ts';
import type { PodUsage } from '../pod-usage.ts';

export const logKeys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
export const rules: DecisionRules = {
  policy: 'enabled',
  neverInject: [],
  alwaysInject: [],
  ignoredNamespaces: new Set(),
  injectKey: istioKeys.inject,
};

interface WebhookFields extends Partial<Pick<SelectingWebhook, 'hash' | 'tag' | 'keys' | 'isConditional' | 'canary'>> {
  readonly auto?: boolean;
}

/** Returns the webhook of an InjectorConfig, or of a tag that points to it. */
export function selectingWebhook(
  injectorConfig: string,
  { hash, tag, keys = istioKeys, auto = false, isConditional = false, canary }: WebhookFields,
): SelectingWebhook {
  const revision = tag ?? injectorConfig;
  const terms = { revision, keys, enableNamespacesByDefault: auto };
  return {
    id: tag === undefined ? injectorConfig : `tag-${tag}`,
    injectorConfig,
    ...(tag === undefined ? {} : { tag }),
    keys,
    hash,
    since: 0,
    isConditional,
    ...(canary === undefined || tag === undefined || hash === undefined ? {} : { canary }),
    selectors: selectorsOf(terms, ['kube-system']).map(compileSelectors),
  };
}

/** Creates records of pods. */
export class Pods {
  readonly #groups = new PodGroups();
  record(name: string, traits: Partial<PodTraits> = {}): PodRecord {
    const group = this.#groups.of({
      namespace: 'shop',
      workload: { kind: 'Deployment', name: 'web' },
      hostNetwork: false,
      labels: {},
      annotations: {},
      injectedBy: '',
      ...traits,
    });
    const { namespace } = group.traits;
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, group, createdAt: 1 };
  }
}

/** Returns traits of a pod that `N.<hash8>,…` injected. The status names the first revision. */
export const by = (injectedBy: string): Partial<PodTraits> => {
  return { injectedBy, annotations: { [istioKeys.status]: injectedBy.split('.')[0] ?? '' } };
};

/** Returns all counts of a usage as lines of text. */
export function describeUsage(usage: PodUsage): string[] {
  const subjects = usage.subjects().map((name) => {
    const { counts, users, groups, namespaces } = usage.subject(name)!;
    const states = [...groups]
      .map(([{ traits, pods }, state]) => `${traits.workload.name}×${pods.size}:${state}`)
      .sort();
    return `${name} ${JSON.stringify(counts)} users ${users} [${[...namespaces.keys()].sort().join()}] ${states.join()}`;
  });
  const totals = usage
    .totals()
    .map(({ injectorConfig, tag, counts }) => `at ${injectorConfig}/${tag} ${JSON.stringify(counts)}`);
  const namespaces = [...usage.namespaces()].map(([name, counts]) => `in ${name} ${JSON.stringify(counts)}`);
  return [...subjects, ...totals, ...namespaces].sort();
}
