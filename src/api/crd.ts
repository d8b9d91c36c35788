import {
  injectorConfigKind,
  injectorConfigPlural,
  injectorConfigSpecSchema,
  injectorConfigStatusSchema,
} from './injector-config/injector-config.ts';
import {
  nameRules,
  operatorClassIsImmutable,
  revisionIsImmutable,
  specRules,
} from './injector-config/injector-config-rules.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';
import { ageColumn, column, customResourceDefinition, readyColumn, sinceColumn } from './resource-definition.ts';
import {
  revisionTagKind,
  revisionTagPlural,
  revisionTagSpecSchema,
  revisionTagStatusSchema,
} from './revision-tag/revision-tag.ts';
import { revisionTagRules, revisionTagSpecRules } from './revision-tag/revision-tag-rules.ts';

/** Returns all CustomResourceDefinitions, generated from schemas and rules. */
export function customResourceDefinitions(): KubernetesObject[] {
  return [
    customResourceDefinition({
      kind: injectorConfigKind,
      plural: injectorConfigPlural,
      shortName: 'icfg',
      description:
        'InjectorConfig describes one sidecar injector: what it injects, and into which pods. It is one revision.',
      specDescription: 'The desired behavior of the injector.',
      spec: injectorConfigSpecSchema,
      status: injectorConfigStatusSchema,
      objectRules: nameRules,
      specRules: [...specRules, ...revisionIsImmutable, ...operatorClassIsImmutable(injectorConfigKind)],
      printerColumns: [
        column('Revision', 'status.revision', 'The revision of the injector.'),
        readyColumn('Ready', 'status', 'Whether new pods are injected as the spec requires.'),
        readyColumn('Reason', 'reason', 'The reason of the Ready condition.'),
        sinceColumn,
        // These columns have type string, because kubectl shows a future date as <invalid>.
        column('Expires', 'status.certificate.notAfter', 'The time at which the serving certificate expires.'),
        column('Renews', 'status.certificate.renewAt', 'The time of the next renewal.', { priority: 1 }),
        column('Authority Expires', 'status.certificate.caNotAfter', authorityExpires, { priority: 1 }),
        column('Phase', 'status.certificate.phase', 'The phase of the certificate rotation.', { priority: 1 }),
        ageColumn,
      ],
    }),
    customResourceDefinition({
      kind: revisionTagKind,
      plural: revisionTagPlural,
      shortName: 'rtag',
      description: 'RevisionTag is a second name for a revision. Namespaces follow the tag; an upgrade moves the tag.',
      specDescription: 'The desired revision of the tag, and how the tag moves to it.',
      spec: revisionTagSpecSchema,
      status: revisionTagStatusSchema,
      objectRules: revisionTagRules,
      specRules: [...revisionTagSpecRules, ...operatorClassIsImmutable(revisionTagKind)],
      printerColumns: [
        column('Revision', 'spec.revision', 'The desired revision of the tag.'),
        column('Stable', 'status.stableRevision', 'The stable revision of the tag.'),
        readyColumn('Ready', 'status', 'Whether new pods get the desired revision.'),
        readyColumn('Reason', 'reason', 'The reason of the Ready condition.'),
        sinceColumn,
        column('Rollout', 'status.rollout.phase', 'The phase of the rollout.'),
        column('Weight', 'status.rollout.weight', weight, integer),
        column('Pods', 'status.injected.total', 'The current, stale and missing pods of the tag.', integer),
        column('Stale', 'status.injected.stale', 'The number of stale pods.', integer),
        ageColumn,
      ],
    }),
  ];
}

const integer = { type: 'integer' } as const;
const authorityExpires = 'The time at which the authority of the serving certificate expires.';
const weight = 'The percentage of workloads that use the canary.';
