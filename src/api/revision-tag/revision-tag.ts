import { z } from 'zod';
import { dnsLabel, flag } from '../kubernetes/field-types.ts';
import { defaultOperatorClass, type Resource } from '../injector-config/injector-config.ts';
import type { revisionTagStatusSchema } from './revision-tag-status.ts';
import { rolloutStrategySchema } from './rollout-strategy.ts';

export const revisionTagKind = 'RevisionTag';
export const revisionTagPlural = 'revisiontags';

/** The name that also answers to the plain injection label, as a revision and as a tag. */
export const defaultRevision = 'default';

/** `spec`: a name that namespaces follow, and the revision that it means now. */
export const revisionTagSpecSchema = z.object({
  revision: dnsLabel().describe(
    'The revision that the tag leads to. Change it to move everything that follows the tag.',
  ),
  operatorClass: dnsLabel(40)
    .default(defaultOperatorClass)
    .describe('Which operator looks after this object; it must be that of the InjectorConfig of the revision.'),
  enableNamespacesByDefault: flag(
    'With tag default: pods without any label, in namespaces without any, are injected too, also when the InjectorConfig does not ask for it.',
  ),
  strategy: rolloutStrategySchema
    .exactOptional()
    .describe('How the tag gets from one revision to the next. Absent: at once, and nothing is restarted.'),
});

/** `spec` with every default filled in. */
export type RevisionTagSpec = z.output<typeof revisionTagSpecSchema>;
/** `status`; every field is absent until the operator has written it. */
export type RevisionTagStatus = z.output<typeof revisionTagStatusSchema>;

/** A second name for a revision: cluster-scoped, named as namespaces and pods name it. */
export type RevisionTag = Resource<typeof revisionTagKind, RevisionTagSpec, RevisionTagStatus>;
