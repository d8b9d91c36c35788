import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import type { Labels } from '../selection/label-selector.ts';
import type { Change } from './advice.ts';
import { edits } from '../template/edits.ts';
import { namesThere, nearestName } from './nearest-name.ts';

/** The label keys of a family, with its revisions and tags. */
export interface LabelFamily {
  readonly keys: Pick<WebhookKeys, 'injection' | 'revision' | 'inject'>;
  /** The revisions and tags, including `default` if the label `injection` has a target. */
  readonly names: readonly string[];
}

/** A label that asks for injection, or resembles such a label, but has no effect. */
export interface LabelMistake {
  readonly reason: 'UnknownRevision' | 'NearMissName' | 'NearMissValue';
  /** The problem, and the label to write instead. */
  readonly message: string;
  /** The probable correction; empty if unknown. */
  readonly changes: Change[];
}

/** Returns the label families. A tag with an unknown revision belongs to every family. */
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
    const familyTags = tags.filter(({ spec }) => own.has(spec.revision) || !revisions.has(spec.revision));
    return { keys, names: [...new Set([...own, ...familyTags.map(({ metadata }) => metadata.name)])].sort() };
  });
}

/** For each kind, the key of the label that switches injection, and a key that has no effect. */
const switches = {
  Namespace: { key: 'injection', on: 'enabled', off: 'disabled', other: 'inject' },
  Pod: { key: 'inject', on: 'true', off: 'false', other: 'injection' },
} as const;

/**
 * Finds mistakes in the labels of a namespace or pod, the worst mistake first. Reports a label that
 * no injector reads only if it resembles a label that an injector reads.
 */
export function labelMistakes(
  labels: Labels,
  families: readonly LabelFamily[],
  kind: Change['of'] = 'Namespace',
): LabelMistake[] {
  const { key, on, off, other } = switches[kind];
  const byLabel = new Map<string, LabelMistake>();
  const add = (label: string, reason: LabelMistake['reason'], what: string, key?: string, value?: string): void => {
    const set = (each: string, after: string | null): Change => ({ of: kind, field: 'label', key: each, value: after });
    const changes = key === undefined ? [] : [...(key === label ? [] : [set(label, null)]), set(key, value ?? null)];
    const message = `the ${kind.toLowerCase()}'s label ${label}=${labels[label] ?? ''} ${what}`;
    // Report each label once: families may share it.
    if (!byLabel.has(label)) byLabel.set(label, { reason, message, changes });
  };
  const switched = (value = ''): string => (/^(?:dis|f|n|off)/i.test(value) ? off : on);
  for (const { keys, names } of families) {
    const asked = labels[keys[key]];
    if (asked !== undefined && asked !== on && asked !== off)
      add(keys[key], 'NearMissValue', `has no effect: use ${on} or ${off}`, keys[key], switched(asked));
    // In a namespace, the switch overrides the revision; in a pod, the revision overrides it.
    const isDefault = asked === on && (kind === 'Namespace' || labels[keys.revision] === undefined);
    const isSwitched = asked === off || (kind === 'Namespace' && asked !== undefined);
    const name = isDefault ? defaultRevision : isSwitched ? undefined : labels[keys.revision];
    if (name === undefined || names.includes(name)) continue;
    const meant = nearestName(name, names);
    const what = `has no effect: there is no revision or tag ${name}; ${namesThere(name, names)}`;
    add(isDefault ? keys[key] : keys.revision, 'UnknownRevision', what, meant && keys.revision, meant);
  }
  // Maps each label of the families to the correct label for this kind.
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
    const what = `has no effect on a ${kind.toLowerCase()}; did you mean ${meant}?`;
    add(label, 'NearMissName', what, meant, isRevision ? value : switched(value));
  }
  return [...byLabel.values()];
}

/** Reports whether labels differ in at most two letters, or one is a prefix of the other. */
function isNear(label: string, known: string): boolean {
  const begins = label.length >= known.length / 2 && (known.startsWith(label) || label.startsWith(known));
  return begins || (Math.abs(label.length - known.length) <= 2 && edits(label, known) <= 2);
}
