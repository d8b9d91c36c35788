import { z } from 'zod';
import {
  group,
  injectorConfigKind,
  injectorConfigPlural,
  injectorConfigSpecSchema,
  version,
} from './injector-config.ts';
import { nameRules, operatorClassIsImmutable, revisionIsImmutable, specRules } from './injector-config-rules.ts';
import { injectorConfigStatusSchema } from './injector-config-status.ts';
import type { KubernetesObject } from './kubernetes.ts';
import { structuralSchema, type JsonSchema } from './structural-schema.ts';

/** The CustomResourceDefinition of InjectorConfig, made from the zod schemas and the rules: `crds/` holds it as YAML. */
export function injectorConfigCustomResourceDefinition(): KubernetesObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${injectorConfigPlural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind: injectorConfigKind,
        listKind: `${injectorConfigKind}List`,
        plural: injectorConfigPlural,
        singular: 'injectorconfig',
        shortNames: ['icfg'],
        categories: ['sidecar-injector'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns,
          schema: { openAPIV3Schema: openAPIV3Schema() },
        },
      ],
    },
  };
}

const printerColumns = [
  { name: 'Revision', type: 'string', description: 'The revision.', jsonPath: '.status.revision' },
  {
    name: 'Ready',
    type: 'string',
    description: 'Whether pods are injected as the spec says.',
    jsonPath: ready('status'),
  },
  { name: 'Reason', type: 'string', description: 'Why it is ready or not.', jsonPath: ready('reason') },
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
  { name: 'Age', type: 'date', description: 'Time since creation.', jsonPath: '.metadata.creationTimestamp' },
];

function ready(field: string): string {
  return `.status.conditions[?(@.type=="Ready")].${field}`;
}

function openAPIV3Schema(): JsonSchema {
  const spec = z.toJSONSchema(injectorConfigSpecSchema, {
    target: 'openapi-3.0',
    io: 'input',
    override: structuralSchema,
  });
  const status = z.toJSONSchema(injectorConfigStatusSchema, {
    target: 'openapi-3.0',
    io: 'input',
    override: structuralSchema,
  });
  return {
    type: 'object',
    description: 'A sidecar injector: what is injected into which pods. One InjectorConfig is one revision.',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 253 } } },
      spec: {
        ...spec,
        description: 'What the injector does.',
        'x-kubernetes-validations': [...specRules, revisionIsImmutable, operatorClassIsImmutable].map((rule) =>
          celRule('spec', rule),
        ),
      },
      status: { ...status, description: 'What the operator observed; written by the operator alone.' },
    },
    'x-kubernetes-validations': nameRules.map((rule) => celRule('', rule)),
  };
}

/** A rule with its field as the API server wants it: relative to the schema that carries the rule. */
function celRule(at: string, { field, rule, message }: { field: string; rule: string; message: string }): JsonSchema {
  return { rule, message, fieldPath: field.slice(at.length).replace(/^\.?/, '.') };
}
