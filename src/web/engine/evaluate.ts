import { dump } from 'js-yaml';
import { ConfigurationError } from '../../api/errors.ts';
import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { adviseOn, type Change } from '../../explain/advice.ts';
import { type CreationFinding, explainCreation, type WebhookFinding } from '../../explain/explain-creation.ts';
import { createdPod } from '../../explain/files/created-pod.ts';
import { creationOf, surroundingsOf } from '../../explain/files/facts.ts';
import { readFileFacts } from '../../explain/files/read-file-facts.ts';
import { lintFiles } from '../../explain/lint/lint-files.ts';
import { type PodChange, podChanges } from '../../explain/pod-changes.ts';
import type { Level } from '../../explain/lint/rules.ts';
import { FileError } from '../../inject/objects/file-error.ts';
import { mapParts } from '../../inject/objects/parts-of-file.ts';
import { listItems, objectAt, podTemplatePaths } from '../../inject/objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';
import { authorMay, type AuthorUse, safeAuthorUses } from '../../inject/safety/author-uses.ts';
import { type DiffLine, lineDiff } from './line-diff.ts';

/** The texts of the playground: each a YAML file with any objects. */
export interface Texts {
  readonly config: string;
  readonly pod: string;
  /** Another configuration, with which the first one is compared. */
  readonly other?: string | undefined;
}

export type Side = keyof Texts;

/** A problem at a place of one of the texts. Lines and columns count from 1. */
export interface Problem {
  readonly side: Side;
  readonly line: number;
  readonly column: number;
  readonly level: Level;
  readonly message: string;
}

/** What happens to the first pod of the texts. */
export interface Explanation extends Pick<CreationFinding, 'outcome' | 'message' | 'injectedBy'> {
  /** The object that creates the pod, for example `Deployment sleep`. */
  readonly subject: string;
  readonly namespace: string;
  readonly webhooks: readonly Pick<WebhookFinding, 'configuration' | 'webhook' | 'outcome' | 'message' | 'steps'>[];
  /** Changes that would reverse the outcome. */
  readonly advice: readonly string[];
  readonly notes: readonly string[];
  /** The stored pod, compared with the pod that the webhooks receive. */
  readonly pod: readonly DiffLine[];
  /** The annotations and labels that the templates read, and what Safe allows; or an error. */
  readonly annotations: readonly Verdict[] | string;
  /** What the other configuration changes; a text if it has no result. */
  readonly comparison?: ConfigurationComparison | string;
}

/** What preset Safe allows authors of pods to do with an annotation or label. */
export interface Verdict extends Pick<AuthorUse, 'of' | 'name' | 'kind'> {
  /** A clause that follows "authors may". */
  readonly may: string;
  /** The value in the pod. */
  readonly value: string | undefined;
}

export interface ConfigurationComparison extends Pick<CreationFinding, 'outcome' | 'message'> {
  readonly changes: readonly PodChange[];
}

/** The explanation, or the reason why there is none. */
export type Explained = { readonly explanation: Explanation } | { readonly missing: string };

/** The namespace of the operator, in which pods are never injected; the default of the chart. */
const operatorNamespace = 'sidecar-injector-system';

/** Explains the creation of the first pod, as `injector check -f` does. */
export function explainTexts({ config, pod, other }: Texts): Explained {
  const created = createIn(config, pod);
  if (typeof created === 'string') return { missing: created };
  const { creation, facts, inputs, found, subjects } = created;
  const { outcome, message, injectedBy, webhooks } = found;
  const { name: namespace } = creation.namespace;
  const [{ kind, metadata }] = subjects;
  const unknown = facts.namespaces.has(namespace)
    ? []
    : [`there is no Namespace ${namespace}: it counts as a namespace without labels`];
  const ignored = subjects.length === 1 ? [] : [`only the first of ${subjects.length} pods and workloads is explained`];
  const explanation = {
    ...{ outcome, message, injectedBy, webhooks, namespace },
    subject: `${kind} ${metadata.name ?? metadata.generateName ?? ''}`,
    advice: adviseOn(creation, inputs, found).map(({ changes, outcome: then }) => {
      const effect = then === 'Injected' ? 'inject the pod' : 'leave the pod without a sidecar';
      return `To ${effect}, ${changes.map(changeInWords).join(', and ')}.`;
    }),
    notes: [...unknown, ...ignored, ...facts.notes],
    pod: lineDiff(yamlLines(creation.pod), yamlLines(found.pod)),
    annotations: verdictsOn(created),
    ...(other !== undefined && { comparison: compare(created, createIn(other, pod)) }),
  };
  return { explanation };
}

/** Creates the first pod. Returns the reason if there is none, or the texts are invalid. */
function createIn(config: string, pod: string) {
  try {
    const objects = [...objectsOf(config), ...objectsOf(pod)];
    const facts = readFileFacts(objects, operatorNamespace);
    const [subject, ...others] = objects.filter((object) => podTemplatePaths(object) !== undefined);
    const paths = subject && podTemplatePaths(subject);
    if (subject === undefined || paths === undefined)
      return 'there is no pod: add a Pod or a workload, for example a Deployment';
    const subjects: [KubernetesObject, ...KubernetesObject[]] = [subject, ...others];
    const creation = creationOf(createdPod(subject, paths, 'default'), facts.namespaces);
    const inputs = surroundingsOf(facts);
    return { creation, facts, inputs, found: explainCreation(creation, inputs), subjects };
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof FileError)) throw error;
    return error.message;
  }
}

type Created = Exclude<ReturnType<typeof createIn>, string>;

/** Judges the annotations of the configuration that injects the pod, or else of the first one. */
function verdictsOn({ creation, facts, found: { webhooks } }: Created): Verdict[] | string {
  const ours = webhooks.filter(({ target }) => target !== undefined);
  const { target } = ours.find(({ outcome }) => outcome === 'Injected') ?? ours[0] ?? {};
  const files = target && facts.filesOf(target);
  if (files === undefined || 'unavailable' in files) return [];
  try {
    return safeAuthorUses(files).map((use) => {
      const value = objectAt(creation.pod, ['metadata', `${use.of}s`])[use.name];
      const { of, name, kind } = use;
      return { of, name, kind, may: authorMay(use), value: typeof value === 'string' ? value : undefined };
    });
  } catch (error) {
    // The templates may be too complex for the analysis, which preset Istio does without.
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message;
  }
}

function compare({ found }: Created, other: Created | string): ConfigurationComparison | string {
  if (typeof other === 'string') return other;
  const { outcome, message, pod } = other.found;
  // The record names the configuration, so it always differs.
  const isRecord = (path: string): boolean => path === `metadata.annotations["${injectedByAnnotation}"]`;
  return { outcome, message, changes: podChanges(found.pod, pod, isRecord) };
}

/** Finds the problems that `injector lint` finds, and those of the YAML of a pod. */
export function lintTexts({ config, pod, other }: Texts): Problem[] {
  const texts = { config, pod, ...(other !== undefined && { other }) };
  const invalid = Object.entries(texts).flatMap(([side, text]) => problemOf(side as Side, text));
  if (invalid.length > 0) return invalid;
  const mine = lintBeside('config', config, pod);
  return other === undefined
    ? mine
    : [...mine, ...lintBeside('other', other, pod).filter(({ side }) => side === 'other')];
}

/** Lints a configuration and the text of the pod, which may contain ConfigMaps and tags. */
function lintBeside(side: Side, text: string, pod: string): Problem[] {
  const { findings } = lintFiles([
    { name: side, text },
    { name: 'pod', text: pod },
  ]);
  return findings.map(({ file, line, column, level, object, message, rule }) => ({
    ...{ side: file as Side, line, column, level },
    message: `${object === '' ? '' : `${object}: `}${message} [${rule}]`,
  }));
}

function problemOf(side: Side, text: string): Problem[] {
  try {
    objectsOf(text);
    return [];
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return [{ side, line: error.line, column: error.column || 1, level: 'error', message: error.reason }];
  }
}

/** Reads the Kubernetes objects of a text; ignores other documents. @throws FileError */
function objectsOf(text: string): KubernetesObject[] {
  return mapParts(text, ({ read }) => objectsIn(read()));
}

function objectsIn(value: unknown): KubernetesObject[] {
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') return [];
  const { apiVersion, kind } = value;
  const items = listItems(value);
  return items?.flatMap(objectsIn) ?? [{ ...value, apiVersion, kind, metadata: objectAt(value, ['metadata']) }];
}

function yamlLines(pod: JsonObject): string[] {
  return dump(pod, { lineWidth: -1, noRefs: true }).trimEnd().split('\n');
}

function changeInWords(change: Change): string {
  if (change.field === 'hostNetwork') return 'set spec.hostNetwork of the pod to false';
  const { of, field, key, value } = change;
  const object = of === 'Pod' ? 'pod' : 'namespace';
  return value === null
    ? `remove the ${field} ${key} of the ${object}`
    : `set the ${field} ${key}=${value} on the ${object}`;
}
