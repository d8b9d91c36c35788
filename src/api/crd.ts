import {
  injectorConfigKind,
  injectorConfigPlural,
  injectorConfigSpecSchema,
} from './injector-config/injector-config.ts';
import {
  nameRules,
  operatorClassIsImmutable,
  revisionIsImmutable,
  specRules,
} from './injector-config/injector-config-rules.ts';
import { injectorConfigStatusSchema } from './injector-config/injector-config-status.ts';
import type { KubernetesObject } from './kubernetes/kubernetes.ts';
import { ageColumn, customResourceDefinition, readyColumn, type PrinterColumn } from './resource-definition.ts';
import { revisionTagCustomResourceDefinition } from './revision-tag/revision-tag-crd.ts';

/** All CustomResourceDefinitions of this version. */
export function customResourceDefinitions(): KubernetesObject[] {
  return [injectorConfigCustomResourceDefinition(), revisionTagCustomResourceDefinition()];
}

/** The CustomResourceDefinition of InjectorConfig, made from the zod schemas and the rules: `crds/` holds it as YAML. */
export function injectorConfigCustomResourceDefinition(): KubernetesObject {
  return customResourceDefinition({
    names: {
      kind: injectorConfigKind,
      plural: injectorConfigPlural,
      singular: 'injectorconfig',
      shortNames: ['icfg'],
    },
    description: 'A sidecar injector: what is injected into which pods. One InjectorConfig is one revision.',
    specDescription: 'What the injector does.',
    spec: injectorConfigSpecSchema,
    status: injectorConfigStatusSchema,
    objectRules: nameRules,
    specRules: [...specRules, revisionIsImmutable, operatorClassIsImmutable],
    printerColumns,
  });
}

const printerColumns: readonly PrinterColumn[] = [
  { name: 'Revision', type: 'string', description: 'The revision.', jsonPath: '.status.revision' },
  readyColumn('Ready', 'status', 'Whether pods are injected as the spec says.'),
  readyColumn('Reason', 'reason', 'Why it is ready or not.'),
  {
    name: 'Expires',
    // Not a date: the API server prints those as ages, and the future as <invalid>.
    type: 'string',
    description: 'When the serving certificate expires unless it is renewed.',
    jsonPath: '.status.certificate.notAfter',
  },
  {
    name: 'Renews',
    type: 'string',
    description: 'When the next renewal is due.',
    jsonPath: '.status.certificate.renewAt',
    priority: 1,
  },
  {
    name: 'Authority Expires',
    type: 'string',
    description: 'When the authority of the serving certificate expires unless it is replaced.',
    jsonPath: '.status.certificate.caNotAfter',
    priority: 1,
  },
  {
    name: 'Phase',
    type: 'string',
    description: 'Where the rotation of the certificates stands.',
    jsonPath: '.status.certificate.phase',
    priority: 1,
  },
  ageColumn,
];
