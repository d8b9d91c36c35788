import { revisionOf } from '../../api/injector-config/injector-config.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import type { Surroundings } from '../../explain/explain-creation.ts';
import type { PodCreation } from '../../explain/pod-creation.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';
import type { Facts } from './facts.ts';

/** Why a revision that the labels of a pod or its namespace name takes nobody: it does not exist, or is there without a webhook. */
export function whatHasNoWebhook(creation: PodCreation, facts: Facts, surroundings: Surroundings): string[] {
  const notes: string[] = [];
  const keys = new Set(facts.injectorConfigs.map(({ spec }) => spec.webhook.keys.revision));
  for (const key of keys) {
    const [whose, value] = revisionLabel(creation, key);
    if (value === undefined) continue;
    const { injectorConfigs, revisionTags } = familyOf(key, facts);
    const config = injectorConfigs.find((each) => revisionOf(each) === value);
    const tag = revisionTags.find(({ metadata }) => metadata.name === value);
    const named = `${whose} label ${key} is ${JSON.stringify(value)}`;
    if (config === undefined && tag === undefined) {
      const known = [
        ...injectorConfigs.map((each) => revisionOf(each)),
        ...revisionTags.map(({ metadata }) => metadata.name),
      ];
      notes.push(`${named}, but there is no such revision or tag; there are: ${[...new Set(known)].sort().join(', ')}`);
      continue;
    }
    const hasWebhook = surroundings.webhooks.some(({ target }) => {
      return tag === undefined ? target?.injectorConfig === config?.metadata.name : target?.tag === value;
    });
    if (hasWebhook) continue;
    const owner = tag === undefined ? `InjectorConfig ${config?.metadata.name ?? ''}` : `RevisionTag ${value}`;
    const isPaused = tag === undefined && config?.spec.paused === true;
    const ready = conditionsOf(tag ?? config).find(({ type }) => type === 'Ready');
    const why = isPaused
      ? 'it is paused (spec.paused)'
      : ready === undefined
        ? 'nothing has reported on it'
        : `${ready.reason}: ${ready.message}`;
    notes.push(`${named}, but ${owner} has no webhook: ${why}`);
  }
  return notes;
}

/** What a revision label can name: the InjectorConfigs that go by it, and the tags but for those that lead to others. */
function familyOf(key: string, facts: Facts): Pick<Facts, 'injectorConfigs' | 'revisionTags'> {
  const isOurs = ({ spec }: Facts['injectorConfigs'][number]): boolean => spec.webhook.keys.revision === key;
  const revisionTags = facts.revisionTags.filter(({ spec }) => {
    const configs = facts.injectorConfigs.filter((each) => revisionOf(each) === spec.revision);
    return configs.length === 0 || configs.some(isOurs);
  });
  return { injectorConfigs: facts.injectorConfigs.filter(isOurs), revisionTags };
}

/** The namespace's revision label beats the pod's. */
function revisionLabel({ namespace, pod }: PodCreation, key: string): [whose: string, value: string | undefined] {
  if (Object.hasOwn(namespace.labels, key)) return ["the namespace's", namespace.labels[key]];
  const metadata = isJsonObject(pod.metadata) ? pod.metadata : {};
  const labels = isJsonObject(metadata.labels) ? metadata.labels : {};
  const value = labels[key];
  return ["the pod's", typeof value === 'string' ? value : undefined];
}

function conditionsOf(
  object: { readonly status?: { conditions?: readonly unknown[] | undefined } } | undefined,
): Condition[] {
  return (object?.status?.conditions ?? []) as Condition[];
}
