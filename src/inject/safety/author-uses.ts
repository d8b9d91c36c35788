import { ConfigurationError } from '../../api/errors.ts';
import type { Injector } from '../injector.ts';
import type { MapReads } from './author-reads.ts';
import { structuralReason } from './structural-annotations.ts';

/**
 * What an annotation or label is to the templates that read it, from most to least:
 * - `structural`: known to change more than values; refused unless it is allowed;
 * - `parsed`: its text is taken apart, and `steering`: it decides on what is rendered; what comes of it is compared with the pod without it;
 * - `scalar`: its text is a value; only odd texts are compared.
 */
export const authorUseKinds = ['structural', 'parsed', 'steering', 'scalar'] as const;
export type AuthorUseKind = (typeof authorUseKinds)[number];

/** One that templates read. */
export interface AuthorUse {
  readonly of: 'annotation' | 'label';
  /** `*` stands for every name that is not listed: a template goes over all of them. */
  readonly name: string;
  readonly kind: AuthorUseKind;
  /** Whether the configuration lets authors use it for whatever the templates make of it. */
  readonly allowed: boolean;
  /** Of structural ones: what they change, in a clause. */
  readonly why?: string;
}

/**
 * What was found out about annotations and labels when a configuration was loaded, in order of kind and name.
 * @throws ConfigurationError under preset Istio, where nothing is held against authors
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
