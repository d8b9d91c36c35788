import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import type { Labels } from '../selection/label-selector.ts';
import type { Change } from './changes.ts';
import { edits, namesThere, nearestName } from './nearest-name.ts';

/** Label names of injectors, and the revisions and tags that go by them. */
export interface LabelFamily {
  readonly keys: Pick<WebhookKeys, 'injection' | 'revision' | 'inject'>;
  /** Revisions and tags; `default` is there when the label `injection` leads somewhere. */
  readonly names: readonly string[];
}

/** A label that asks for injection, or looks as if it did, and leads nowhere. */
export interface LabelMistake {
  /** An identifier. */
  readonly reason: 'UnknownRevision' | 'NearMissName' | 'NearMissValue';
  /** A sentence that says what to write instead. */
  readonly message: string;
  /** What was probably meant; empty where that is not known. */
  readonly changes: Change[];
}

/** The families of these InjectorConfigs and tags; a tag whose revision nobody has goes by every family's labels. */
export function labelFamilies(
  configs: readonly Pick<InjectorConfig, 'metadata' | 'spec'>[],
  tags: readonly Pick<RevisionTag, 'metadata' | 'spec'>[],
): LabelFamily[] {
  const families = new Map<string, { keys: LabelFamily['keys']; revisions: Set<string> }>();
  for (const config of configs) {
    const { injection, revision, inject } = config.spec.webhook.keys;
    const id = [injection, revision, inject].join(' ');
    const family = families.get(id) ?? { keys: { injection, revision, inject }, revisions: new Set() };
    families.set(id, family);
    family.revisions.add(revisionOf(config));
  }
  const revisions = new Set(configs.map(revisionOf));
  return [...families.values()].map(({ keys, revisions: own }) => {
    const led = tags.filter(({ spec }) => own.has(spec.revision) || !revisions.has(spec.revision));
    return { keys, names: [...new Set([...own, ...led.map(({ metadata }) => metadata.name)])].sort() };
  });
}

/** The label that switches injection on or off; the other one means nothing there. */
const switches = {
  Namespace: { key: 'injection', on: 'enabled', off: 'disabled', other: 'inject' },
  Pod: { key: 'inject', on: 'true', off: 'false', other: 'injection' },
} as const;

/**
 * What is wrong with the labels of a namespace or a pod, the worst first. Of labels that no
 * injector reads it names only those that look like one that an injector does.
 */
export function labelMistakes(
  labels: Labels,
  families: readonly LabelFamily[],
  of: Change['of'] = 'Namespace',
): LabelMistake[] {
  const { key, on, off, other } = switches[of];
  const byLabel = new Map<string, LabelMistake>();
  const add = (label: string, reason: LabelMistake['reason'], what: string, key?: string, value?: string): void => {
    const to = (each: string, after: string | null): Change => ({ of, field: 'label', key: each, value: after });
    const changes = key === undefined ? [] : [...(key === label ? [] : [to(label, null)]), to(key, value ?? null)];
    const message = `the ${of.toLowerCase()}'s label ${label}=${labels[label] ?? ''} ${what}`;
    // One of each label: two families may share one.
    if (!byLabel.has(label)) byLabel.set(label, { reason, message, changes });
  };
  const switched = (value = ''): string => (/^(?:dis|f|n|off)/i.test(value) ? off : on);
  for (const { keys, names } of families) {
    const asked = labels[keys[key]];
    if (asked !== undefined && asked !== on && asked !== off)
      add(keys[key], 'NearMissValue', `means nothing: it takes ${on} or ${off}`, keys[key], switched(asked));
    // The namespace's switch beats its revision label, the pod's revision label beats its switch.
    const isDefault = asked === on && (of === 'Namespace' || labels[keys.revision] === undefined);
    const isSilent = asked === off || (of === 'Namespace' && asked !== undefined);
    const name = isDefault ? defaultRevision : isSilent ? undefined : labels[keys.revision];
    if (name === undefined || names.includes(name)) continue;
    const meant = nearestName(name, names);
    const what = `leads nowhere: there is no revision or tag ${name}; ${namesThere(name, names)}`;
    add(isDefault ? keys[key] : keys.revision, 'UnknownRevision', what, meant && keys.revision, meant);
  }
  // What each label of the families should have been here.
  const known = new Map<string, string>([
    ...families.map(({ keys }) => [keys[other], keys[key]] as const),
    ...families.flatMap(({ keys }) => [keys[key], keys.revision].map((each) => [each, each] as const)),
  ]);
  for (const [label, value] of Object.entries(labels)) {
    const near = known.has(label) ? [label] : [...known.keys()].filter((each) => isNear(label, each));
    const [nearest = label] = near.sort((one, another) => edits(label, one) - edits(label, another));
    const meant = known.get(nearest) ?? label;
    if (meant === label) continue;
    const isRevision = families.some(({ keys }) => keys.revision === meant);
    const what = `means nothing on a ${of.toLowerCase()}; ${meant} was probably meant`;
    add(label, 'NearMissName', what, meant, isRevision ? value : switched(value));
  }
  return [...byLabel.values()];
}

/** All letters but two, or one is how the other begins: `istio-inject`, `istio-injection`. */
function isNear(label: string, known: string): boolean {
  const begins = label.length >= known.length / 2 && (known.startsWith(label) || label.startsWith(known));
  return begins || (Math.abs(label.length - known.length) <= 2 && edits(label, known) <= 2);
}
