import type { KubernetesObject } from '../kubernetes/kubernetes.ts';
import { ageColumn, customResourceDefinition, readyColumn } from '../resource-definition.ts';
import { revisionTagKind, revisionTagPlural, revisionTagSpecSchema } from './revision-tag.ts';
import { revisionTagRules, revisionTagSpecRules, tagOperatorClassIsImmutable } from './revision-tag-rules.ts';
import { revisionTagStatusSchema } from './revision-tag-status.ts';

/** The CustomResourceDefinition of RevisionTag. */
export function revisionTagCustomResourceDefinition(): KubernetesObject {
  return customResourceDefinition({
    names: { kind: revisionTagKind, plural: revisionTagPlural, singular: 'revisiontag', shortNames: ['rtag'] },
    description: 'A second name for a revision: what namespaces follow, and what is moved in an upgrade.',
    specDescription: 'Which revision the tag means.',
    spec: revisionTagSpecSchema,
    status: revisionTagStatusSchema,
    objectRules: revisionTagRules,
    specRules: [...revisionTagSpecRules, tagOperatorClassIsImmutable],
    printerColumns: [
      {
        name: 'Revision',
        type: 'string',
        description: 'The revision that the tag is to lead to.',
        jsonPath: '.spec.revision',
      },
      {
        name: 'Stable',
        type: 'string',
        description: 'The revision that pods get now.',
        jsonPath: '.status.stableRevision',
      },
      readyColumn('Ready', 'status', 'Whether pods get the revision of the spec.'),
      readyColumn('Reason', 'reason', 'Why they do or do not.'),
      {
        name: 'Rollout',
        type: 'string',
        description: 'Where the rollout stands.',
        jsonPath: '.status.rollout.phase',
      },
      {
        name: 'Weight',
        type: 'integer',
        description: 'The share of the workloads that gets the canary, in percent.',
        jsonPath: '.status.rollout.weight',
      },
      {
        name: 'Pods',
        type: 'integer',
        description: 'Pods that were injected by way of the tag.',
        jsonPath: '.status.injected.total',
      },
      {
        name: 'Stale',
        type: 'integer',
        description: 'Pods that would get something else now.',
        jsonPath: '.status.injected.stale',
      },
      ageColumn,
    ],
  });
}
