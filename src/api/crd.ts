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

/** All CustomResourceDefinitions of this version, made from the zod schemas and the rules: `crds/` holds them as YAML. */
export function customResourceDefinitions(): KubernetesObject[] {
  return [
    customResourceDefinition({
      kind: injectorConfigKind,
      plural: injectorConfigPlural,
      shortName: 'icfg',
      description: 'A sidecar injector: what is injected into which pods. One InjectorConfig is one revision.',
      specDescription: 'What the injector does.',
      spec: injectorConfigSpecSchema,
      status: injectorConfigStatusSchema,
      objectRules: nameRules,
      specRules: [...specRules, revisionIsImmutable, operatorClassIsImmutable(injectorConfigKind)],
      printerColumns: [
        column('Revision', 'status.revision', 'The revision.'),
        readyColumn('Ready', 'status', 'Whether pods are injected as the spec says.'),
        readyColumn('Reason', 'reason', 'Why it is ready or not.'),
        sinceColumn,
        // Times are texts: the API server prints dates as ages, and those in the future as <invalid>.
        column('Expires', 'status.certificate.notAfter', 'When the serving certificate expires unless it is renewed.'),
        column('Renews', 'status.certificate.renewAt', 'When the next renewal is due.', { priority: 1 }),
        column('Authority Expires', 'status.certificate.caNotAfter', authorityExpires, { priority: 1 }),
        column('Phase', 'status.certificate.phase', 'Where the rotation of the certificates stands.', { priority: 1 }),
        ageColumn,
      ],
    }),
    customResourceDefinition({
      kind: revisionTagKind,
      plural: revisionTagPlural,
      shortName: 'rtag',
      description: 'A second name for a revision: what namespaces follow, and what is moved in an upgrade.',
      specDescription: 'Which revision the tag means.',
      spec: revisionTagSpecSchema,
      status: revisionTagStatusSchema,
      objectRules: revisionTagRules,
      specRules: [...revisionTagSpecRules, operatorClassIsImmutable(revisionTagKind)],
      printerColumns: [
        column('Revision', 'spec.revision', 'The revision that the tag is to lead to.'),
        column('Stable', 'status.stableRevision', 'The revision that pods get now.'),
        readyColumn('Ready', 'status', 'Whether pods get the revision of the spec.'),
        readyColumn('Reason', 'reason', 'Why they do or do not.'),
        sinceColumn,
        column('Rollout', 'status.rollout.phase', 'Where the rollout stands.'),
        column('Weight', 'status.rollout.weight', weight, integer),
        column('Pods', 'status.injected.total', 'Pods that were injected by way of the tag.', integer),
        column('Stale', 'status.injected.stale', 'Pods that would get something else now.', integer),
        ageColumn,
      ],
    }),
  ];
}

const integer = { type: 'integer' } as const;
const authorityExpires = 'When the authority of the serving certificate expires unless it is replaced.';
const weight = 'The share of the workloads that gets the canary, in percent.';
