import { istioKeys } from '../../../api/injector-config/webhook-keys.ts';
import type { DecisionRules } from '../../../inject/decide.ts';
import { selectorsOf } from '../../../selection/webhook-selectors.ts';
import { type CompiledSelectors, compileSelectors, type SelectingWebhook } from '../../../selection/selecting-webhook.ts';
import { PodGroups, type PodRecord } from '../pod-group.ts';
import type { PodTraits } from '../pod-traits.ts';
import { familyMember } from '../judge-pod.ts';
import { PodUsage, usageKey } from '../pod-usage.ts';
import { usageFigures } from '../usage-figures.ts';
import type { WebhookKeys } from '../../../api/injector-config/webhook-keys.ts';

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

/** A usage of which a test changes one webhook or InjectorConfig at a time. */
export class EditedUsage extends PodUsage {
  /** Sets a webhook (undefined if deleted). */
  setWebhook(id: string, webhook: SelectingWebhook | undefined): void {
    this.update({ ...this.judging, webhooks: withEntry(this.judging.webhooks, id, webhook) });
  }

  /** Sets the webhooks of Istio's injector. */
  setIstios(istios: readonly CompiledSelectors[]): void {
    this.update({ ...this.judging, istios });
  }

  /** Sets the keys of an InjectorConfig (undefined if deleted). */
  setFamily(name: string, keys: WebhookKeys | undefined): void {
    const member = keys && familyMember(keys, name);
    this.update({ ...this.judging, families: withEntry(this.judging.families, name, member) });
  }
}

function withEntry<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value | undefined): Map<string, Value> {
  return new Map([...[...map].filter(([each]) => each !== key), ...(value === undefined ? [] : [[key, value] as const])]);
}

/** The InjectorConfigs and tags in these tests. */
export const subjects = [
  ...['default', 'gone', 'logs', 'new', 'old', 'one', 'two'].map((name) => usageKey('InjectorConfig', name)),
  ...['default', 'prod'].map((name) => usageKey('RevisionTag', name)),
];

/** Returns the number of pods that need a subject. */
export function usersOf(usage: PodUsage, subject: string): number {
  return usage.subject(subject).users.reduce((sum, { pods }) => sum + pods.size, 0);
}

/** Returns all counts of a usage as lines of text. */
export function describeUsage(usage: PodUsage): string[] {
  const used = subjects.flatMap((name) => {
    const { counts, groups, namespaces } = usage.subject(name);
    if (groups.size + namespaces.length === 0) return [];
    const states = [...groups]
      .map(([{ traits, pods }, state]) => `${traits.workload.name}×${pods.size}:${state}`)
      .sort();
    return `${name} ${JSON.stringify(counts)} users ${usersOf(usage, name)} [${[...namespaces].sort().join()}] ${states.join()}`;
  });
  const { pods, namespaces } = usageFigures(usage.totals(), () => true);
  const totals = pods.map(({ injectorConfig, tag, counts }) => `at ${injectorConfig}/${tag} ${JSON.stringify(counts)}`);
  const inNamespaces = namespaces.map(({ namespace, counts }) => `in ${namespace} ${JSON.stringify(counts)}`);
  return [...used, ...totals, ...inNamespaces].sort();
}
