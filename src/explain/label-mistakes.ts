import { type InjectorConfig, revisionOf } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';

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
  readonly label: string;
  readonly value: string;
  /** A sentence that says what to write instead. */
  readonly message: string;
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

/** Letters that may differ for a name to be taken for a mistyped one. */
const mostEdits = 2;
const usualValues = ['enabled', 'disabled'];

/**
 * What is wrong with the labels of a namespace, the worst first. A label that nobody's injector looks at is named only if it is a hardly changed one that somebody's does.
 * @param labels of the namespace
 */
export function labelMistakes(
  labels: Readonly<Record<string, string>>,
  families: readonly LabelFamily[],
): LabelMistake[] {
  const mistakes = families.flatMap(({ keys, names }) => {
    const unknown = unknownRevision(labels, keys, names);
    return unknown === undefined ? [] : [unknown];
  });
  const known = new Set(families.flatMap(({ keys }) => Object.values(keys)));
  for (const [label, value] of Object.entries(labels)) {
    if (known.has(label)) continue;
    const [meant] = [...known]
      .filter((each) => isNear(label, each))
      .sort((one, other) => edits(label, one) - edits(label, other));
    if (meant === undefined) continue;
    const message = `label ${label}=${value} means nothing to any injector; ${meant} was probably meant`;
    mistakes.push({ reason: 'NearMissName', label, value, message });
  }
  return distinct(mistakes);
}

function unknownRevision(
  labels: Readonly<Record<string, string>>,
  { injection, revision }: LabelFamily['keys'],
  names: readonly string[],
): LabelMistake | undefined {
  const asked = labels[injection];
  if (asked !== undefined) {
    if (usualValues.includes(asked))
      return asked === 'enabled' ? unknownName(injection, asked, 'default', names) : undefined;
    const message = `label ${injection}=${asked} means nothing: it takes enabled or disabled`;
    return { reason: 'NearMissValue', label: injection, value: asked, message };
  }
  const name = labels[revision];
  return name === undefined ? undefined : unknownName(revision, name, name, names);
}

function unknownName(label: string, value: string, name: string, names: readonly string[]): LabelMistake | undefined {
  if (names.includes(name)) return undefined;
  const there = names.length === 0 ? 'there are none' : `there are: ${[...names].sort().join(', ')}`;
  const meant = names.find((each) => plain(each) === plain(name)) ?? names.find((each) => edits(each, name) === 1);
  const advice = meant === undefined ? '' : `; ${meant} was probably meant`;
  const message = `label ${label}=${value} leads nowhere: there is no revision or tag ${name}; ${there}${advice}`;
  return { reason: 'UnknownRevision', label, value, message };
}

/** As `1.25` and `1-25` are one for people. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]/g, '');
}

/** The same letters nearly, or the same up to the end of one of them, as `istio-inject` and `istio-injection`. */
function isNear(label: string, known: string): boolean {
  const begins = label.length >= known.length / 2 && (known.startsWith(label) || label.startsWith(known));
  return begins || (Math.abs(label.length - known.length) <= mostEdits && edits(label, known) <= mostEdits);
}

/** Levenshtein's distance. Both are label names: at most 317 characters. */
function edits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 1; index <= one.length; index += 1) {
    const next = [index];
    for (let place = 1; place <= other.length; place += 1) {
      const change = (row[place - 1] ?? 0) + (one[index - 1] === other[place - 1] ? 0 : 1);
      next.push(Math.min(change, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** One of each label: two families may share one. */
function distinct(mistakes: readonly LabelMistake[]): LabelMistake[] {
  const byLabel = new Map<string, LabelMistake>();
  for (const mistake of mistakes) if (!byLabel.has(mistake.label)) byLabel.set(mistake.label, mistake);
  return [...byLabel.values()];
}
