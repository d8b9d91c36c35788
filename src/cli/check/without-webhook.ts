import { revisionOf } from '../../api/injector-config/injector-config.ts';
import type { Surroundings } from '../../explain/explain-creation.ts';
import type { PodCreation } from '../../explain/pod-creation.ts';
import { objectAt } from '../../inject/objects/workload-kinds.ts';
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
      const known = [...injectorConfigs.map(revisionOf), ...revisionTags.map(({ metadata }) => metadata.name)];
      notes.push(`${named}, but there is no such revision or tag; there are: ${[...new Set(known)].sort().join(', ')}`);
      continue;
    }
    const isLedTo = ({ target }: Surroundings['webhooks'][number]): boolean =>
      tag === undefined ? target?.injectorConfig === config?.metadata.name : target?.tag === value;
    if (surroundings.webhooks.some(isLedTo)) continue;
    const owner = tag === undefined ? `InjectorConfig ${config?.metadata.name ?? ''}` : `RevisionTag ${value}`;
    const isPaused = tag === undefined && config?.spec.paused === true;
    const ready = (tag ?? config)?.status?.conditions?.find(({ type }) => type === 'Ready');
    const said = ready === undefined ? 'nothing has reported on it' : `${ready.reason}: ${ready.message}`;
    notes.push(`${named}, but ${owner} has no webhook: ${isPaused ? 'it is paused (spec.paused)' : said}`);
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
  const value = objectAt(pod, ['metadata', 'labels'])[key];
  return ["the pod's", typeof value === 'string' ? value : undefined];
}
