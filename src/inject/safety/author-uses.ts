import { ConfigurationError } from '../../api/errors.ts';
import { istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { type Injector, loadInjector } from '../injector.ts';
import type { MapReads } from './author-reads.ts';
import { structuralReason } from './structural-annotations.ts';

/**
 * How templates use an annotation or label, from most to least influence:
 * - `structural`: it can change more than values, and is refused unless it is allowed;
 * - `parsed` by a function, or `steering` other output: the output with and without it is compared;
 * - `scalar`: the text is a value; the output is compared only if the text is not harmless.
 */
export const authorUseKinds = ['structural', 'parsed', 'steering', 'scalar'] as const;
export type AuthorUseKind = (typeof authorUseKinds)[number];

/** An annotation or label that templates read. */
export interface AuthorUse {
  readonly of: 'annotation' | 'label';
  /** The name; `*` stands for all other names, if a template ranges over the names. */
  readonly name: string;
  readonly kind: AuthorUseKind;
  /** Whether the configuration exempts the annotation or label from comparison. */
  readonly allowed: boolean;
  /** The effect of a structural annotation. */
  readonly why?: string;
}

/**
 * Lists the annotations and labels that templates read, by kind and name.
 * @throws ConfigurationError under preset Istio, which does not check authors
 */
export function authorUses({ guard, templateNames }: Injector): AuthorUse[] {
  if (guard === undefined) {
    throw new ConfigurationError('annotationOverrides', 'annotationOverrides: preset Istio classifies no annotation');
  }
  const { annotations, labels } = guard.readsOf(templateNames);
  const usesOf = (of: AuthorUse['of'], reads: MapReads): AuthorUse[] =>
    [...reads].map(([name, { steers, parsed }]) => {
      const why = of === 'annotation' ? structuralReason(name) : undefined;
      const kind = why !== undefined ? 'structural' : parsed ? 'parsed' : steers ? 'steering' : 'scalar';
      return { of, name, kind, allowed: guard.allows(name), ...(why === undefined ? {} : { why }) };
    });
  return [...usesOf('annotation', annotations), ...usesOf('label', labels)].sort(
    (left, right) =>
      authorUseKinds.indexOf(left.kind) - authorUseKinds.indexOf(right.kind) ||
      left.of.localeCompare(right.of) ||
      left.name.localeCompare(right.name),
  );
}

/**
 * Lists the annotations and labels that the templates of a configuration read, as preset Safe
 * restricts them. @throws ConfigurationError if the configuration cannot be loaded
 */
export function safeAuthorUses(files: ConfigurationFiles): AuthorUse[] {
  const settings = JSON.parse(files.settings) as InjectionSettings;
  const { allow } = settings.annotationOverrides ?? istioOverrides;
  const safe = { ...settings, annotationOverrides: { preset: 'Safe', allow } };
  return authorUses(loadInjector({ ...files, settings: JSON.stringify(safe) }));
}

/** Returns what authors may do with an annotation or label: a clause that follows "authors may". */
export function authorMay({ kind, allowed, why }: AuthorUse): string {
  if (allowed) return 'do anything, since it is allowed (annotationOverrides)';
  switch (kind) {
    case 'structural':
      return `not use it, since ${why ?? 'it changes more than values'}; a pod with it is refused`;
    case 'parsed':
      return 'change values; the effect of its parts is compared with the pod without it';
    case 'steering':
      return 'switch values on and off; its effect is compared with the pod without it';
    case 'scalar':
      return 'set a value; an unusual value is compared with a harmless one';
  }
}
