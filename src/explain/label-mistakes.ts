import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import type { Labels } from '../selection/label-selector.ts';
import type { Change } from './advice.ts';
import { validatedAnnotations } from '../inject/annotations/validate-annotations.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { edits } from '../template/edits.ts';
import { namesThere, nearestName } from './nearest-name.ts';
import type { PodCreation } from './pod-creation.ts';

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

/** A label of an object that no injector reads, or an annotation that must be a label. */
interface MisplacedLabel extends Omit<LabelMistake, 'reason'> {
  readonly reason: 'MisplacedLabel';
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
  const switched = (value = ''): string => valueMeant(kind, value);
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

/** Returns the probable value of a switch: `no` means `false`. */
function valueMeant(kind: Change['of'], value: string): string {
  return switches[kind][/^(?:dis|f|n|off)/i.test(value) ? 'off' : 'on'];
}

/** Returns the labels or annotations in the metadata of an object, without other values. */
export function textsAt(object: JsonObject, part: 'labels' | 'annotations'): Labels {
  const entries = Object.entries(objectAt(object, ['metadata', part]));
  return Object.fromEntries(entries.filter((each): each is [string, string] => typeof each[1] === 'string'));
}

/**
 * Finds labels of a workload that belong into its pod template, and annotations instead of labels.
 * @param workload the object that contains the pod template, if any
 * @param isOptOut whether to find those that switch injection off, instead of those that ask for it
 */
export function misplacedLabels(
  { pod, namespace }: PodCreation,
  families: readonly LabelFamily[],
  workload?: KubernetesObject,
  isOptOut = false,
): MisplacedLabel[] {
  const read = { Pod: textsAt(pod, 'labels'), Namespace: namespace.labels };
  const isMade = workload !== undefined || Array.isArray(objectAt(pod, ['metadata']).ownerReferences);
  const isSwitch = (key: string): boolean => families.some(({ keys }) => key === keys.inject || key === keys.injection);
  const find = (of: Change['of'], keys: readonly string[], what: string, texts: Labels = {}): MisplacedLabel[] =>
    keys.flatMap((key) => {
      const text = texts[key];
      if (text === undefined || key in read[of]) return [];
      const { on, off } = switches[of];
      const value = isSwitch(key) ? valueMeant(of, text) : text;
      if ((value === off) !== isOptOut) return [];
      const place = of === 'Pod' ? `label of the pod${isMade ? ', in its template' : ''}` : 'label of the namespace';
      const where = value === text ? place : `${place}, ${on} or ${off}`;
      const changes: Change[] = [{ of, field: 'label', key, value }];
      return [
        { reason: 'MisplacedLabel', message: `${what} ${key}=${text} has no effect: make it a ${where}`, changes },
      ];
    });
  return families.flatMap(({ keys: { injection, revision, inject } }) => [
    ...find('Pod', [inject, revision], `the label of the ${workload?.kind ?? ''}`, workload?.metadata.labels),
    ...find('Pod', [inject, revision], "the pod's annotation", textsAt(pod, 'annotations')),
    ...find('Namespace', [injection, revision], "the namespace's annotation", namespace.annotations),
  ]);
}

/** Says which label counts if several name a revision, and which labels must be annotations. */
export function countingLabels({ pod, namespace }: PodCreation, families: readonly LabelFamily[]): string[] {
  const ofPod = textsAt(pod, 'labels');
  const notes = families.flatMap(({ keys: { injection, revision } }) => {
    const [counting, ...others] = [injection, revision].filter((key) => key in namespace.labels);
    const ignored = [
      ...others.map((key) => `its label ${key}=${namespace.labels[key] ?? ''}`),
      ...(revision in ofPod ? [`the pod's label ${revision}=${ofPod[revision] ?? ''}`] : []),
    ];
    if (counting === undefined || ignored.length === 0) return [];
    return `the namespace's label ${counting}=${namespace.labels[counting] ?? ''} counts, not ${ignored.join(' and ')}`;
  });
  const settings = validatedAnnotations.filter((key) => key in ofPod);
  return [...new Set(notes), ...settings.map((key) => `the pod's label ${key} has no effect: make it an annotation`)];
}

/** Reports whether labels differ in at most two letters, or one is a prefix of the other. */
function isNear(label: string, known: string): boolean {
  const begins = label.length >= known.length / 2 && (known.startsWith(label) || label.startsWith(known));
  return begins || (Math.abs(label.length - known.length) <= 2 && edits(label, known) <= 2);
}
