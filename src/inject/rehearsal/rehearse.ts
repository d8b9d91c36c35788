import { ConfigurationError } from '../../api/errors.ts';
import { inject } from '../inject.ts';
import type { FailureReason, Rehearsal } from '../injection-result.ts';
import type { ConfigurationOutline, Injector } from '../injector.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { type InjectedPod, typicalPods, type TypicalPod } from './typical-pods.ts';
import { whyUnusable } from './unusable-pod.ts';
import type { PodStructType, ValueType } from '../kubernetes/go-types.ts';
import { podType } from '../kubernetes/pod-schema.ts';

/** Matches the directives of strategic merge: `$patch`, `$setElementOrder/containers`, ... */
const directive = /^\$/;

/**
 * Returns the paths of members that a Pod does not have, e.g. `spec.containers[0].imagee`. Go drops
 * such members silently.
 * @param limit the maximum number of paths
 */
export function unknownPodFields(part: JsonObject, limit: number): string[] {
  const found: string[] = [];
  const look = (type: ValueType, value: unknown, path: string): void => {
    if (found.length >= limit) return;
    if (type.kind === 'list' && Array.isArray(value)) {
      value.forEach((item, index) => {
        look(type.element, item, `${path}[${index}]`);
      });
    } else if (type.kind === 'map' && isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) look(type.value, item, `${path}.${key}`);
    } else if (type.kind === 'struct' && isJsonObject(value)) lookAtMembers(type, value, path);
  };
  const lookAtMembers = (type: PodStructType, value: JsonObject, path: string): void => {
    for (const [name, item] of Object.entries(value)) {
      if (directive.test(name)) continue;
      const field = type.byName.get(name) ?? type.byFoldedName.get(name.toLowerCase());
      const fieldPath = path === '' ? name : `${path}.${name}`;
      if (field === undefined) found.push(fieldPath);
      else look(field.type, item, fieldPath);
    }
  };
  look(podType, part, '');
  return found.slice(0, limit);
}

/** The time limit of a rehearsal, in milliseconds. */
const timeLimit = 500;
/** The maximum number of findings of one kind in a message. */
const mostFindings = 3;
/** The maximum length, in characters, of a failure message, which may quote an author's text. */
const longestMessage = 1000;

/**
 * Injects typical pods with the default templates. Returns a failure if no typical pod can be
 * injected, or none is usable afterwards, because the same is then true for almost every pod. Warns
 * of other problems.
 * @param now returns milliseconds since any fixed time
 * @param sample pods to use instead, such as pods of the cluster; failures are then warnings
 */
export function rehearse(injector: Injector, now: () => number, sample?: readonly TypicalPod[]): Rehearsal {
  const begun = now();
  const { outputs } = injector.templates;
  const failed: { kind: string; reason: FailureReason; message: string }[] = [];
  const unusable: ((typeof failed)[number] & { readonly isByServer: boolean })[] = [];
  const texts = new Map<string, JsonObject>();
  const injected: InjectedPod[] = [];
  outputs.forget();
  for (const { kind, pod, namespace = 'default' } of sample ?? typicalPods(injector.settings.keys.inject)) {
    if (now() - begun > timeLimit) break;
    const result = inject(injector, { pod, namespace, path: '/inject' });
    if (result.outcome === 'failed')
      failed.push({ kind, reason: result.reason, message: `${result.message}${result.detail ?? ''}` });
    if (result.outcome === 'injected') {
      injected.push({ kind, namespace, pod: result.pod, original: pod });
      const problem = whyUnusable(pod, result.pod);
      if (problem !== undefined) unusable.push({ kind, reason: 'InvalidTemplateOutput', ...problem });
    }
    for (const [text, content] of outputs.all()) texts.set(text, content);
  }
  outputs.forget();
  const [odd] = unusable;
  const isEvery = unusable.length === injected.length;
  const oddKinds = [...new Set(unusable.map(({ kind }) => kind))].slice(0, mostFindings).join(', ');
  const share = `${unusable.length} of ${injected.length} ${sample === undefined ? 'typical' : 'injected'} pods, such as ${oddKinds},`;
  const isByServer = unusable.every((each) => each.isByServer);
  const named = odd && { unusable: { message: odd.message, share, isEvery, isByServer } };
  const problems = [...failed, ...unusable];
  const worst = problems.find((each) => each.reason !== 'TemplateLimit') ?? problems[0];
  if (worst !== undefined && isEvery && sample === undefined) {
    const { reason, message } = worst;
    // A dropped or missing field is often the cause of an unusable pod.
    const hints = failed.length === 0 ? outputWarnings(injector, texts) : [];
    return { failure: { reason, message }, warnings: hints, ...named, injected };
  }
  const warnings: string[] = [];
  const [first] = failed;
  if (first !== undefined) {
    const count = `${failed.length} of ${failed.length + injected.length}`;
    const kinds = failed.slice(0, mostFindings).map(({ kind }) => kind);
    const message = first.message.slice(0, longestMessage);
    warnings.push(`the templates fail for ${count} pods that were tried, such as ${kinds.join(', ')}: ${message}`);
  }
  if (!isEvery && sample === undefined) warnings.push(...outputWarnings(injector, texts));
  return { warnings, ...named, injected };
}

/** @throws ConfigurationError if the templates failed for every pod that was tried */
export function refuseUnusable({ rehearsal, defaultTemplates }: ConfigurationOutline): void {
  if (rehearsal?.failure === undefined) return;
  const names = defaultTemplates.join(', ');
  const message = `config.templates: ${names} ${defaultTemplates.length === 1 ? 'fails' : 'fail'} for every pod`;
  throw new ConfigurationError(
    'config.templates',
    `${message} that was tried: ${[rehearsal.failure.message, ...rehearsal.warnings].join('; ')}`,
  );
}

/** Returns warnings about the output of the templates. */
function outputWarnings(injector: Injector, outputs: ReadonlyMap<string, JsonObject>): string[] {
  const warnings: string[] = [];
  const parts = [...outputs.values()].map((content) =>
    injector.templates.legacy ? readLegacyOutput(content).part : content,
  );
  const unknown = new Set(parts.flatMap((part) => unknownPodFields(part, mostFindings)));
  if (unknown.size > 0) {
    const names = [...unknown].slice(0, mostFindings).join(', ');
    warnings.push(
      `the templates write fields that a pod does not have, which are dropped: ${names}; correct the name or its indentation`,
    );
  }
  const missing = new Set(parts.flatMap((part) => pathsOf(part, '<no value>', '')));
  if (missing.size > 0) {
    const paths = [...missing].slice(0, mostFindings).join(', ');
    warnings.push(
      `the templates write "<no value>" into ${paths}: they read a missing field; correct its name or set it`,
    );
  }
  if (injector.defaultTemplates.length > 0 && !parts.some((part) => hasContent(normalisePod(part))))
    warnings.push('the templates add nothing to any pod that was tried; put their output under "spec:" or "metadata:"');
  return warnings;
}

/** Reports whether a value contains anything other than zero values. */
export function hasContent(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(hasContent) : Boolean(value);
}

/** Returns the paths of the strings in a value that contain a text. */
export function pathsOf(value: unknown, text: string, path: string): string[] {
  if (typeof value === 'string') return value.includes(text) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => pathsOf(item, text, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => pathsOf(item, text, path === '' ? name : `${path}.${name}`));
}
