import { ConfigurationError } from '../../api/errors.ts';
import { inject } from '../inject.ts';
import type { FailureReason, Rehearsal } from '../injection-result.ts';
import type { Injector } from '../injector.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { typicalPod, typicalPodKinds, type TypicalPod } from './typical-pods.ts';
import type { StructType, ValueType } from '../kubernetes/go-types.ts';
import { podType } from '../kubernetes/pod-schema.ts';

/** Names that strategic merge reads and takes away: `$patch`, `$setElementOrder/containers`, ... */
const directive = /^\$/;

/**
 * The paths of members that a Pod does not have, e.g. `spec.containers[0].imagee`: Go drops them without a word when it decodes.
 * @param most so many are enough
 */
export function unknownFields(part: JsonObject, most: number): string[] {
  const found: string[] = [];
  const look = (type: ValueType, value: unknown, path: string): void => {
    if (found.length >= most) return;
    if (type.kind === 'list' && Array.isArray(value)) {
      value.forEach((item, index) => {
        look(type.element, item, `${path}[${index}]`);
      });
    } else if (type.kind === 'map' && isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) look(type.value, item, `${path}.${key}`);
    } else if (type.kind === 'struct' && isJsonObject(value)) lookAtMembers(type, value, path);
  };
  const lookAtMembers = (type: StructType, value: JsonObject, path: string): void => {
    for (const [name, item] of Object.entries(value)) {
      if (directive.test(name)) continue;
      const field = type.byName.get(name) ?? type.byFoldedName.get(name.toLowerCase());
      const place = path === '' ? name : `${path}.${name}`;
      if (field === undefined) found.push(place);
      else look(field.type, item, place);
    }
  };
  look(podType, part, '');
  return found.slice(0, most);
}

/** Milliseconds after which the pods that were tried are enough. */
const enough = 500;
/** Of one kind of finding. */
const mostTold = 3;
/** Characters of a failure: it may quote what an author wrote. */
const longestMessage = 1000;

/**
 * Injects typical pods with the default templates, as pods without a wish get them. What fails for all of them would fail for every pod of the cluster, or nearly so; what is odd is
 * told. Whether a template is right for other pods is not known from this.
 * @param now in milliseconds, from whatever moment
 * @param sample pods of the cluster to try instead, each a workload's: they can only warn
 */
export function rehearse(injector: Injector, now: () => number, sample?: readonly TypicalPod[]): Rehearsal {
  const begun = now();
  const { outputs } = injector.templates;
  const failed: { kind: string; reason: FailureReason; message: string }[] = [];
  const texts = new Map<string, JsonObject>();
  let injected = 0;
  outputs.forget();
  const typical = Array.from({ length: typicalPodKinds }, (_, index) =>
    typicalPod(injector.settings.keys.inject, index),
  );
  for (const { kind, pod, namespace = 'default' } of sample ?? typical) {
    if (now() - begun > enough) break;
    const result = inject(injector, { pod, namespace, path: '/inject' });
    if (result.outcome === 'failed') failed.push({ kind, reason: result.reason, message: result.message });
    else if (result.outcome === 'injected') injected += 1;
    for (const [text, content] of outputs.all()) texts.set(text, content);
  }
  outputs.forget();
  const [first] = failed;
  if (first !== undefined && injected === 0 && sample === undefined) {
    const { reason, message } = failed.find((each) => each.reason !== 'TemplateLimit') ?? first;
    return { failure: { reason, message }, warnings: [] };
  }
  const warnings: string[] = [];
  if (first !== undefined) {
    const count = `${failed.length} of ${failed.length + injected}`;
    const kinds = failed.slice(0, mostTold).map(({ kind }) => kind);
    const message = first.message.slice(0, longestMessage);
    warnings.push(
      `the templates fail for ${count} pods that they were tried with, such as ${kinds.join(', ')}: ${message}`,
    );
  }
  if (injected > 0 && sample === undefined) warnings.push(...oddities(injector, texts));
  return { warnings };
}

/** @throws ConfigurationError when none of the pods that were tried could be injected */
export function refuseHopeless({ rehearsal, defaultTemplates }: Injector): void {
  if (rehearsal?.failure === undefined) return;
  const names = defaultTemplates.join(', ');
  const message = `config.templates: ${names} ${defaultTemplates.length === 1 ? 'fails' : 'fail'} for every pod`;
  throw new ConfigurationError('config.templates', `${message} that was tried: ${rehearsal.failure.message}`);
}

/** What is odd in what the templates wrote. */
function oddities(injector: Injector, outputs: ReadonlyMap<string, JsonObject>): string[] {
  const warnings: string[] = [];
  const parts = [...outputs.values()].map((content) =>
    injector.templates.legacy ? readLegacyOutput(content).part : content,
  );
  const unknown = new Set(parts.flatMap((part) => unknownFields(part, mostTold)));
  if (unknown.size > 0) {
    const names = [...unknown].slice(0, mostTold).join(', ');
    warnings.push(
      `the templates write what a pod does not have, which is dropped: ${names}; correct the name or its indentation`,
    );
  }
  const missing = new Set(parts.flatMap((part) => placesOf(part, '<no value>', '')));
  if (missing.size > 0) {
    const places = [...missing].slice(0, mostTold).join(', ');
    warnings.push(
      `the templates write "<no value>" into ${places}: they read a field that is not there; correct its name or set it`,
    );
  }
  if (injector.defaultTemplates.length > 0 && !parts.some((part) => hasContent(normalisePod(part))))
    warnings.push(
      'the templates add nothing to any pod that they were tried with; what they add stands under "spec:" or "metadata:"',
    );
  return warnings;
}

/** Whether a value has anything in it that is not a zero. */
function hasContent(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(hasContent) : Boolean(value);
}

/** The paths of texts that contain a text. */
function placesOf(value: unknown, text: string, path: string): string[] {
  if (typeof value === 'string') return value.includes(text) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => placesOf(item, text, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => placesOf(item, text, path === '' ? name : `${path}.${name}`));
}
