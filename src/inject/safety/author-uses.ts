import { ConfigurationError } from '../../api/errors.ts';
import type { Injector } from '../injector.ts';
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
